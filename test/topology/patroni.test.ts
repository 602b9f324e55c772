/** The short form of `npm run topology -- patroni`: one switchover, and etcd stopped. */
import { patroni } from './patroni.ts';
import { testShort } from './short.ts';

testShort(patroni, 3);
