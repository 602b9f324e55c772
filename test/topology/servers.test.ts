/** The short form of `npm run topology -- servers`: all classes through Varnish, rolling restarts, a Redis that goes. */
import { servers } from './servers.ts';
import { testShort } from './short.ts';

testShort(servers, 7);
