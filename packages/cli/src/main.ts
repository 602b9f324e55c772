// What is imported by a declaration is loaded before anything here runs. Nothing is awaited at the top, so that
// `bin/platform.cjs` may require this file.
import { keepCompiledCode } from './compiled-code.ts';

keepCompiledCode();
import('./command-line.ts').then(({ main }) => main(process.argv));
