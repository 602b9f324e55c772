#!/usr/bin/env node
// What is imported by a declaration is loaded before anything here runs.
import { keepCompiledCode } from './compiled-code.ts';

keepCompiledCode();
const { main } = await import('./command-line.ts');
await main(process.argv);
