/** Metrics of sign-ins. */
import type { Accounts } from '../auth/accounts.ts';
import type { Credentials } from '../auth/sign-in.ts';
import type { SingleSignOn } from '../auth/sso/single-sign-on.ts';
import { toPlatformError } from '../errors.ts';
import { Counter, type CounterChild, type MetricValues } from '../operate/metrics/measured.ts';

const results = ['ok', 'refused', 'limited', 'second_factor'] as const;
type SignInResult = (typeof results)[number];

/** Name of the provider of passwords. */
const passwordProvider = 'default';

/** Counts sign-ins by their result and provider. */
export class SignInMetrics {
  readonly #signIns = new Counter('tablewright_sign_ins_total', 'Sign-ins by their result.');
  readonly #byProvider = new Map<string, ReadonlyMap<SignInResult, CounterChild>>();

  /** Counts the sign-ins of some accounts from now on. */
  observe<T>(accounts: Accounts<T>): Accounts<T> {
    const { signIn, singleSignOn } = accounts;
    this.#bind(passwordProvider);
    return {
      ...accounts,
      signIn: {
        ...signIn,
        login: async (credentials, sender) => {
          try {
            const pair = await signIn.login(credentials, sender);
            this.#count(passwordProvider, 'ok');
            return pair;
          } catch (error) {
            this.#count(passwordProvider, resultOf(error, credentials));
            throw error;
          }
        },
      },
      singleSignOn: new Map([...singleSignOn].map(([name, way]) => [name, this.#observeWay(name, way)])),
    };
  }

  /** Values of all metrics. */
  read(): readonly MetricValues[] {
    return this.#byProvider.size === 0 ? [] : [this.#signIns.read()];
  }

  #observeWay(name: string, way: SingleSignOn): SingleSignOn {
    this.#bind(name);
    return {
      environment: way.environment,
      depart: (redirect) => way.depart(redirect),
      arrive: async (brought, cookie, sender) => {
        const arrival = await way.arrive(brought, cookie, sender);
        this.#count(name, 'pair' in arrival.outcome ? 'ok' : resultOf(arrival.outcome.error, null));
        return arrival;
      },
    };
  }

  /** Later versions of the API count on. */
  #bind(provider: string): void {
    if (this.#byProvider.has(provider)) return;
    const bound = results.map((result) => [result, this.#signIns.child({ result, provider })] as const);
    this.#byProvider.set(provider, new Map(bound));
  }

  #count(provider: string, result: SignInResult | null): void {
    const counter = result === null ? undefined : this.#byProvider.get(provider)?.get(result);
    if (counter !== undefined) counter.value++;
  }
}

/** Null for a failure that says nothing about the credentials. */
function resultOf(thrown: unknown, credentials: Credentials | null): SignInResult | null {
  const { code, status } = toPlatformError(thrown);
  if (status >= 500) return null;
  if (code === 'REQUESTS_EXCEEDED') return 'limited';
  return code === 'INVALID_OTP' && credentials?.otp === null ? 'second_factor' : 'refused';
}
