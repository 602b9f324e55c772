/** Tests of accounts, users, files, revisions and single sign-on once more, on MySQL. */
import { accountSuites, testOnceMore } from '../support/once-more.ts';

testOnceMore('mysql', accountSuites);
