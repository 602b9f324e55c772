/** The short form of `npm run topology -- galera`: one node killed, then another one; reads on other nodes. */
import { galera } from './galera.ts';
import { testShort } from './short.ts';

testShort(galera, 5);
