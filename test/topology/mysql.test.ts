/** The short form of `npm run topology -- mysql`: a group whose primary is killed, then another member. */
import { mysql } from './mysql.ts';
import { testShort } from './short.ts';

testShort(mysql, 5);
