/** Environment variables by topic: name, default as a text that could be set, meaning. Tests compare them with the code. */

/** A default that is no text: what holds when the variable is absent. */
interface Absent {
  readonly absent: string;
}

/** One variable; `<NAME>` in it stands for the name of a provider or a place for files, in capital letters. */
export type Variable = readonly [name: string, initial: string | Absent, meaning: string];

const none: Absent = { absent: 'none' };

/** Every variable, by topic. */
export const topics: readonly (readonly [topic: string, variables: readonly Variable[]])[] = [
  [
    'Server',
    [
      ['HOST', '127.0.0.1', 'Address that the server listens on.'],
      ['PORT', '8055', 'Port that the server listens on; `0` lets the system choose.'],
      ['PUBLIC_URL', { absent: 'the address above' }, 'Address at which clients reach the server.'],
      ['LOG_LEVEL', 'info', '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.'],
      [
        'ACCESS_LOG',
        'errors',
        '`off`, `errors`, `all` or a share such as `0.05`, see [the access log](../observability.md#the-access-log).',
      ],
      ['LOG_ADDRESSES', 'network', '`none`, `network` or `full`: how much of a client address the log names.'],
      [
        'SLOW_QUERY',
        '500',
        'Time from which a request, or [a statement](../observability.md#slow-statements), is slow; `0`: none is.',
      ],
      ['METRICS_PORT', none, 'Port of [metrics](../metrics.md); `0` lets the system choose.'],
      ['METRICS_HOST', '127.0.0.1', 'Address of that port.'],
      ['METRICS_TOKEN', none, 'Token for `/metrics` on `PORT`, at least 16 characters.'],
      ['METRICS_SERIES_MAX', '5000', 'Series that name a collection.'],
      ['TRACES_MODULE', none, 'Path of a module that registers a provider of [spans](../traces.md).'],
      ['SHUTDOWN_DELAY', '0', 'Time after SIGTERM in which everything is still served.'],
      ['SHUTDOWN_TIMEOUT', '10s', 'Time that running requests have after that.'],
      ['REQUEST_TIMEOUT', '60s', 'Time that a client has to send one request.'],
      ['MAX_PAYLOAD_SIZE', '1mb', 'Size of a JSON body.'],
      [
        'PLATFORM_OPTIMIZE',
        'all',
        'Optimisations that are on: `all`, `none` or [names](../decisions/speed-of-reads.md#switches).',
      ],
      ['DOCS', 'false', 'Shows [the OpenAPI document](../openapi.md) of the caller at `/docs`.'],
      ['EXPLAIN', 'false', 'Tells administrators [why a request is refused](../explaining.md#why-was-it-refused).'],
      [
        'NODE_ENV',
        none,
        '`production` switches off `EXPLAIN` and `--record-examples`, and makes no admin token or password.',
      ],
    ],
  ],
  [
    'Database',
    [
      [
        'DATABASE_URL',
        { absent: 'embedded PostgreSQL under `.platform/`' },
        '`postgres://user:password@host:5432/database`, `mysql://…` or `mariadb://…`; hosts of [several servers](../scale.md) with commas.',
      ],
      [
        'DATABASE_FAILOVER_WAIT',
        { absent: '5s with several hosts' },
        'Time that a write waits for a server that takes it.',
      ],
      ['DATABASE_READ_URL', none, '[Replicas](../scale.md#replicas), written as DATABASE_URL is.'],
      ['DATABASE_READ_MAX_LAG', '5s', 'A replica that lags more is not asked.'],
      ['DATABASE_READ_WAIT', '50ms', 'Time that a read waits for a replica to follow.'],
      ['DATABASE_LISTEN_URL', none, 'A way past [a pooler](../scale.md#poolers), by which changes of rules are heard.'],
      ['DATABASE_DRIVER', 'auto', '`auto`, `fast` or `pg`, see [the connection](../configuration.md#the-connection).'],
      ['DATABASE_POOL_MAX', '10', 'Connections of one process.'],
      ['DATABASE_POOL_TIMEOUT', '2s', 'Time that a request waits for a connection.'],
      ['DATABASE_STATEMENT_TIMEOUT', '30s', 'Time that a statement may take; the embedded database has none.'],
      ['DATABASE_PUBLIC_STATEMENT_TIMEOUT', '10s', 'The same for callers without a token; `0`: no other time.'],
      [
        'DATABASE_READ_ONLY',
        'false',
        'Refuses every write and every sign-in, see [operations](../operations.md#alive-ready-draining).',
      ],
      ['DATABASE_STREAM_MAX', { absent: 'a third of the connections' }, 'Answers that are streamed at once.'],
    ],
  ],
  [
    'Slow readers',
    [
      [
        'STREAM_CLIENT_MAX',
        { absent: 'one less than all' },
        'Answers that are streamed to one client address at once.',
      ],
      ['STREAM_STALL_TIMEOUT', '10s', 'Time that an answer waits for its reader.'],
      ['STREAM_BUFFER_MAX', '64mb', 'Bytes that wait for readers, of all answers.'],
    ],
  ],
  [
    'Shared caches',
    [
      [
        'CACHE_PURGE_URL',
        none,
        'Addresses of [caches](../scale.md#caches) that are sent PURGE after changes, with commas.',
      ],
      ['CACHE_TAG_HEADER', 'Surrogate-Key', 'Header of answers and purges that holds their tags.'],
    ],
  ],
  [
    'Queries and writes',
    [
      ['QUERY_LIMIT_DEFAULT', '100', 'Items of a list that names no limit.'],
      ['QUERY_LIMIT_MAX', none, 'Largest limit that a list may name.'],
      ['QUERY_ROWS_MAX', '1000000', 'Rows that a nested list may have over all its parents.'],
      ['QUERY_COST_MAX', '5000', 'Cost of one request over REST or GraphQL, see [limits](../query-limits.md#limits).'],
      ['GEO_MAX_POSITIONS', '10000', 'Positions of one [geometry](../geometry.md) in a request.'],
      ['QUERYSTRING_MAX_PARSE_DEPTH', '10', 'Depth of brackets in a query string.'],
      ['QUERYSTRING_ARRAY_LIMIT', '500', 'Elements of a list in a query string.'],
      ['MAX_RELATIONAL_DEPTH', '10', 'Depth of a field path.'],
      ['MAX_BATCH_MUTATION', 'unlimited', 'Items that one request may write.'],
      ['IDEMPOTENCY_TTL', '24h', 'Time that the answer to a request with a key is kept, see [history](../history.md).'],
      ['SYSTEM_NAME_ALIAS_PREFIX', none, 'Prefix that may stand for `platform_` in paths of [the model](../model.md).'],
    ],
  ],
  [
    'GraphQL',
    [
      ['GRAPHQL_INTROSPECTION', 'true', 'Answers questions about the schema.'],
      ['GRAPHQL_QUERY_TOKEN_LIMIT', '5000', 'Tokens of one document.'],
      ['GRAPHQL_MAX_DEPTH', '15', 'Depth of one operation.'],
      ['GRAPHQL_MAX_ROOT_FIELDS', '20', 'Root fields of one operation.'],
      ['GRAPHQL_MAX_ALIASES', '100', 'Aliases of one operation.'],
      ['GRAPHQL_MAX_COST', '5000', 'Other name of `QUERY_COST_MAX`, which wins.'],
      ['GRAPHIQL', 'false', 'Shows browsers a page to ask from at `/graphql`.'],
    ],
  ],
  [
    'Sign-in and sessions',
    [
      [
        'SECRET',
        { absent: 'with the embedded database made once, kept in `.platform/secret`' },
        'Key of all tokens, at least 32 bytes; required where there are [users](../auth.md).',
      ],
      ['SECRET_PREVIOUS', none, 'The `SECRET` before this one: its tokens are still valid, and none is signed by it.'],
      [
        'ADMIN_TOKEN',
        { absent: 'made once, kept in `.platform/admin-token`' },
        'Static token of the role admin, at least 16 characters, in production 32.',
      ],
      ['ADMIN_EMAIL', 'admin@example.com', 'Address of the first administrator, made when there is no user.'],
      [
        'ADMIN_PASSWORD',
        { absent: 'made once, see [the first user](../auth.md#the-first-user)' },
        'Password of the first administrator.',
      ],
      ['ACCESS_TOKEN_TTL', '15m', 'Lifetime of an access token, at most 24 days.'],
      ['REFRESH_TOKEN_TTL', '7d', 'Lifetime of a refresh token.'],
      ['SESSION_MAX_TTL', '90d', 'Age at which a session ends, however often it was refreshed.'],
      ['REFRESH_TOKEN_COOKIE_NAME', 'platform_refresh_token', 'Name of the cookie.'],
      [
        'REFRESH_TOKEN_COOKIE_SECURE',
        { absent: '`true` unless the address is http on this machine' },
        'Sends the cookie over https only.',
      ],
      ['REFRESH_TOKEN_COOKIE_SAME_SITE', 'lax', '`strict`, `lax` or `none`.'],
      ['REFRESH_TOKEN_COOKIE_DOMAIN', none, 'Domain of the cookie.'],
      ['PASSWORD_MIN_LENGTH', '8', 'Characters of a password.'],
      ['LOGIN_STALL_TIME', '500', 'Shortest time in which a refused sign-in is answered.'],
      ['AUTH_DISABLE_DEFAULT', 'false', 'Switches off sign-in by password.'],
      ['IP_TRUST_PROXY', none, 'Addresses and CIDR blocks of proxies whose `X-Forwarded-For` is believed.'],
    ],
  ],
  [
    'Single sign-on',
    [
      ['AUTH_PROVIDERS', none, 'Names of the providers, see [single sign-on](../single-sign-on.md).'],
      ['AUTH_<NAME>_DRIVER', none, '`openid` or `oauth2`; required.'],
      ['AUTH_<NAME>_CLIENT_ID', none, 'Name of this server at the provider; required.'],
      ['AUTH_<NAME>_CLIENT_SECRET', none, 'Its secret; required.'],
      ['AUTH_<NAME>_ISSUER_URL', none, 'Address of a provider of OpenID Connect; required for `openid`.'],
      ['AUTH_<NAME>_AUTHORIZE_URL', none, 'Address that people are sent to; required for `oauth2`.'],
      ['AUTH_<NAME>_ACCESS_URL', none, 'Address of tokens; required for `oauth2`.'],
      ['AUTH_<NAME>_PROFILE_URL', none, 'Address of the profile; required for `oauth2`.'],
      ['AUTH_<NAME>_SCOPE', { absent: '`openid profile email`, for `oauth2` `email`' }, 'Scopes, separated by spaces.'],
      ['AUTH_<NAME>_IDENTIFIER_KEY', 'sub', 'Member of the profile that identifies the user.'],
      ['AUTH_<NAME>_EMAIL_KEY', 'email', 'Member with the address.'],
      ['AUTH_<NAME>_FIRST_NAME_KEY', 'given_name', 'Member with the first name.'],
      ['AUTH_<NAME>_LAST_NAME_KEY', 'family_name', 'Member with the last name.'],
      ['AUTH_<NAME>_ALLOW_PUBLIC_REGISTRATION', 'false', 'Makes a user of an unknown person.'],
      ['AUTH_<NAME>_DEFAULT_ROLE_ID', none, 'Key of the role of such a user.'],
      ['AUTH_<NAME>_REDIRECT_ALLOW_LIST', none, 'Addresses that people may be sent on to.'],
      ['AUTH_<NAME>_ICON', none, 'Icon of the provider.'],
      ['AUTH_<NAME>_LABEL', none, 'Label of the provider.'],
    ],
  ],
  [
    'Limits of requests',
    [
      ['RATE_LIMITER_ENABLED', 'false', 'Limits requests of each client, see [limits](../limits.md).'],
      ['RATE_LIMITER_POINTS', '50', 'Requests that a client may send in that time.'],
      ['RATE_LIMITER_DURATION', '1s', 'That time.'],
      ['RATE_LIMITER_GLOBAL_ENABLED', 'false', 'Limits requests of all clients together.'],
      ['RATE_LIMITER_GLOBAL_POINTS', '1000', 'Requests of all clients in that time.'],
      ['RATE_LIMITER_GLOBAL_DURATION', '1s', 'That time.'],
      ['RATE_LIMITER_AUTH_ENABLED', 'true', 'Limits failed attempts to sign in.'],
      ['RATE_LIMITER_AUTH_DURATION', '60s', 'Time in which they are counted.'],
      ['RATE_LIMITER_AUTH_ACCOUNT_POINTS', '10', 'Failed attempts per account.'],
      ['RATE_LIMITER_AUTH_ADDRESS_POINTS', '60', 'Failed attempts per client address.'],
      ['RATE_LIMITER_AUTH_MAIL_POINTS', '5', 'Mails per address and hour.'],
      ['RATE_LIMITER_AUTH_OTP_POINTS', '5', 'Wrong one-time passwords per user and 30 seconds.'],
      [
        'REDIS',
        none,
        '`redis://user:password@host:6379/0`: counts requests of several processes together, and tells them of ended sessions and changed rules.',
      ],
    ],
  ],
  [
    'Browsers of other origins',
    [
      ['CORS_ENABLED', 'false', 'Lets pages of other origins call the API.'],
      ['CORS_ORIGIN', none, 'Exact origins, or `*` for all of them without credentials.'],
      ['CORS_CREDENTIALS', 'true', 'Lets these pages send the cookie.'],
      ['CORS_METHODS', 'GET,POST,PATCH,DELETE,SEARCH', 'Methods that they may use.'],
      [
        'CORS_ALLOWED_HEADERS',
        'Content-Type,Authorization,Idempotency-Key,If-Match,If-None-Match,X-Consistency-Token',
        'Headers that they may send.',
      ],
      ['CORS_EXPOSED_HEADERS', 'Content-Range,ETag,Retry-After,X-Consistency-Token', 'Headers that they may read.'],
      ['CORS_MAX_AGE', '18000', 'Seconds that a browser keeps these answers.'],
    ],
  ],
  [
    'Mail',
    [
      ['EMAIL_FROM', 'no-reply@localhost', 'Sender of mails, with or without a name.'],
      ['EMAIL_SMTP_HOST', { absent: 'none: each mail becomes a file in `.platform/mail/`' }, 'Mail server.'],
      ['EMAIL_SMTP_PORT', '587', 'Its port.'],
      ['EMAIL_SMTP_USER', none, 'Name to sign in with.'],
      ['EMAIL_SMTP_PASSWORD', none, 'Password to sign in with.'],
      ['EMAIL_SMTP_SECURE', 'false', 'Uses TLS from the first byte on.'],
      ['EMAIL_SMTP_IGNORE_TLS', 'false', 'Uses no TLS even where the server offers it.'],
      ['PASSWORD_RESET_TOKEN_TTL', '1d', 'Lifetime of the link in a mail that resets a password.'],
      ['USER_INVITE_TOKEN_TTL', '7d', 'Lifetime of the link in an invitation.'],
      ['PASSWORD_RESET_URL_ALLOW_LIST', none, 'Addresses that requests may have the link lead to.'],
      ['USER_INVITE_URL_ALLOW_LIST', none, 'The same for invitations, see [accounts](../accounts.md).'],
    ],
  ],
  [
    'Files',
    [
      [
        'STORAGE_LOCATIONS',
        'local',
        'Names of the places for [files](../files.md#where-they-lie); new files go to the first.',
      ],
      ['STORAGE_<NAME>_DRIVER', { absent: '`local`' }, '`local` or `s3`.'],
      [
        'STORAGE_<NAME>_ROOT',
        { absent: '`.platform/uploads`; in a bucket none' },
        'Folder, or prefix of the objects in a bucket.',
      ],
      ['STORAGE_<NAME>_BUCKET', none, 'Bucket; required for `s3`.'],
      ['STORAGE_<NAME>_REGION', 'us-east-1', 'Region of the bucket.'],
      ['STORAGE_<NAME>_ENDPOINT', { absent: 'that of Amazon in the region' }, 'Address of the storage service.'],
      ['STORAGE_<NAME>_KEY', none, 'Access key; required for `s3`.'],
      ['STORAGE_<NAME>_SECRET', none, 'Secret of the access key; required for `s3`.'],
      ['FILES_MAX_UPLOAD_SIZE', '100mb', 'Size of a file.'],
      ['ASSETS_CACHE_TTL', '30d', 'Time that clients may keep the content of a file.'],
      ['ASSETS_TRANSFORM_IMAGE_MAX_DIMENSION', '6000', 'Pixels along one side of an image, before and after.'],
      ['ASSETS_TRANSFORM_MAX_OPERATIONS', '5', 'Entries of `transforms`.'],
      ['ASSETS_TRANSFORM_TIMEOUT', '7500', 'Time that one image may take.'],
      ['ASSETS_TRANSFORM_MAX_CONCURRENT', '25', 'Images that are made at once.'],
      ['IMPORT_IP_DENY_LIST', none, 'Addresses and CIDR blocks that no file is fetched from.'],
      [
        'IMPORT_IP_ALLOW_LIST',
        none,
        'Addresses and CIDR blocks that files may be fetched from although they are private.',
      ],
      ['IMPORT_MAX_FILE_SIZE', '50mb', 'Size of a file that is fetched.'],
      ['IMPORT_TIMEOUT', '10s', 'Time that fetching may take.'],
      ['IMPORT_PORTS', '80,443', 'Ports that files are fetched from.'],
    ],
  ],
  [
    'systemd',
    [
      ['NOTIFY_SOCKET', none, 'Socket that is told when the server is ready and when it stops; systemd sets it.'],
      ['WATCHDOG_USEC', none, 'Microseconds within which systemd expects a sign of life.'],
      ['WATCHDOG_PID', none, 'Process that the sign of life is expected of.'],
      ['PATH', none, 'Folders in which the program `systemd-notify` is looked for.'],
    ],
  ],
  [
    'Commands',
    [
      [
        'NODE_COMPILE_CACHE',
        { absent: '`platform/compiled` in the cache folder of the user' },
        'Folder of compiled code.',
      ],
      ['XDG_CACHE_HOME', { absent: '`~/.cache`' }, 'Cache folder of the user.'],
      ['NO_COLOR', none, 'Prints without colours when it is set.'],
    ],
  ],
];
