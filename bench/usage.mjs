// Loaded before a program (`--import`): tells in the file that USAGE_FILE names what the process took, when it ends.
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env.USAGE_FILE;
if (isMainThread && file !== undefined) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const used = { processorMs: (userCPUTime + systemCPUTime) / 1000, megabytes: maxRSS / 1024 };
    writeFileSync(file, JSON.stringify(used));
  });
}
