-- Asks for the paths of a file in turn, from a random one on, and prints what came of it as the last line, as JSON.
local requests = {}
local at = 0

function init(args)
  for path in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format('GET', path)
  end
  math.randomseed(os.time())
  at = math.random(0, #requests - 1)
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local failed = summary.errors
  local errors = failed.connect + failed.read + failed.write + failed.status + failed.timeout
  io.write(string.format('\n{"requests":%d,"errors":%d,"seconds":%f,"p50":%f,"p99":%f}\n', summary.requests, errors,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
