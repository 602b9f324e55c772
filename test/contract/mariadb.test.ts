/** Tests of accounts, users, files, revisions and single sign-on once more, on MariaDB. */
import { accountSuites, testOnceMore } from '../support/once-more.ts';

testOnceMore('mariadb', accountSuites);
