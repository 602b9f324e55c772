// Nothing is awaited at the top, so that `bin/create-tablewright.cjs` may require this file.
import { create } from './create.ts';

create(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
