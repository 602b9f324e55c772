// Static imports are loaded before this code runs, so this import is dynamic. The top level awaits nothing, so that
// `bin/platform.cjs` may require this file.
import { keepCompiledCode } from './process/engine.ts';

keepCompiledCode();
import('./command-line.ts').then(({ main }) => main(process.argv));
