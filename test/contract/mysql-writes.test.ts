/** Tests of writes, rules, hooks, the platform's own collections and generations once more, on MySQL. */
import { testOnceMore, writeSuites } from '../support/once-more.ts';

testOnceMore('mysql', writeSuites);
