/**
 * Tests of accounts, users, files, revisions and single sign-on once more, on MariaDB and MySQL. All that can be asked there
 * is asked by `CONTRACT_DATABASE=mariadb vitest run --project database` (or `mysql`) and the names of their files.
 */
import { testOnceMore } from '../support/once-more.ts';

const files = ['sign-in', 'users', 'single-sign-on', 'files', 'revisions'];

testOnceMore('mariadb', files);
testOnceMore('mysql', files);
