/** Shared by `platform init` and `create-tablewright`: the files of new projects, and the installation of packages. */

export { installCommand } from './package-manager.ts';
export { type ProjectFile, projectFiles, writeProjectFile } from './project-files.ts';
