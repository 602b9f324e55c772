/** What `platform init` shares with `create-tablewright`: the files of new projects, and how packages come into them. */

export { installCommand } from './package-manager.ts';
export { type ProjectFile, projectFiles, writeProjectFile } from './project-files.ts';
