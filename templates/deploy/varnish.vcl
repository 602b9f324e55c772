# Varnish 7 with varnish-modules, in front of servers whose collections have `cache`.
# CACHE_PURGE_URL of every server is the address of this Varnish.
vcl 4.1;

import xkey;

backend default {
  .host = "127.0.0.1";
  .port = "8055";
}

# Servers that may purge, and no others.
acl servers {
  "127.0.0.1";
  "::1";
}

sub vcl_recv {
  if (req.method == "PURGE") {
    if (client.ip !~ servers) {
      return (synth(405));
    }
    set req.http.X-Purged = xkey.purge(req.http.Surrogate-Key);
    return (synth(200));
  }
  if ((req.method != "GET" && req.method != "HEAD") || req.url !~ "^/items/") {
    return (pass);
  }
  # Callers with a token, and those that have to see what they have just written.
  if (req.http.Authorization || req.http.X-Consistency-Token || req.url ~ "(?i)access(_|%5f)token") {
    return (pass);
  }
  if (req.http.Cookie ~ "(^|;\s*)platform_") {
    return (pass);
  }
  # Answers depend on neither, so all clients share them.
  unset req.http.Cookie;
  unset req.http.Accept;
  return (hash);
}

sub vcl_backend_response {
  if (beresp.status != 200 || beresp.http.Cache-Control !~ "^public") {
    set beresp.ttl = 0s;
    set beresp.uncacheable = true;
    return (deliver);
  }
  set beresp.http.xkey = beresp.http.Surrogate-Key;
  unset beresp.http.Surrogate-Key;
  # An answer that is too old is asked for anew, and never given once more.
  set beresp.grace = 0s;
  set beresp.keep = 0s;
  return (deliver);
}

sub vcl_deliver {
  unset resp.http.xkey;
  # A kept answer has the identifier of the request that it was made for.
  if (obj.hits > 0) {
    set resp.http.X-Request-Id = "varnish-" + req.xid;
  }
}
