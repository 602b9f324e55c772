/** Shared by `platform init` and `create-tablewright`: the files of new projects, and the installation of packages. */

export { databaseUrlProblem } from './check-input.ts';
export { installCommand } from './package-manager.ts';
export { type ProjectFile, projectFiles, starterRules, writeProjectFile } from './project-files.ts';
