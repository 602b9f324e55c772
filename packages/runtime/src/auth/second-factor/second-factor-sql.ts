/**
 * The statements of second factors. Each answers at most one row of texts, the transaction's
 * number first; no row means that its condition does not hold.
 */

import { byFamily } from '../../dialects/by-family.ts';
import { mysqlSecondFactors } from '../../dialects/mysql/own-tables/second-factor.ts';
import {
  postgresSecondFactors,
  type SecondFactorStatements,
} from '../../dialects/postgres/own-tables/second-factor.ts';
import type { SystemPlace } from '../../system/place.ts';

/** The statements for the location of the tables. $1 is the user everywhere. */
export function secondFactorStatements(location: SystemPlace): SecondFactorStatements {
  return byFamily<SecondFactorStatements>(location, { postgres: postgresSecondFactors, mysql: mysqlSecondFactors });
}
