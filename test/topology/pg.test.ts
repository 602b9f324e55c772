/** The short form of `npm run topology -- pg`: one failover, one kill, reads behind writes, rights behind a pooler. */
import { pg } from './pg.ts';
import { testShort } from './short.ts';

testShort(pg, 7);
