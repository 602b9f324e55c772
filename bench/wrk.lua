-- Sends the lines of a file in turn, from a random one on, and prints what came of it as the last line, as JSON. A path is
-- read; a line such as `POST /items/tags {"name":"a"}` is sent with its body. Where a line has the second argument, each
-- request has a text of that length that no other one has.
local requests = {}
local at = 0
local made = 0
local run = ''
local length = 0

function init(args)
  local placeholder = args[2] or ''
  length = #placeholder
  for line in io.lines(args[1]) do
    requests[#requests + 1] = prepare(line, placeholder)
  end
  math.randomseed(os.time())
  run = string.format('%x', os.time())
  at = math.random(0, #requests - 1)
end

function prepare(line, placeholder)
  local method, path, body = line:match('^(%u+) (%S+) ?(.*)$')
  local text
  if method == nil then
    text = wrk.format('GET', line)
  elseif body == '' then
    text = wrk.format(method, path)
  else
    text = wrk.format(method, path, { ['Content-Type'] = 'application/json' }, body)
  end
  local first, last = nil, nil
  if placeholder ~= '' then
    first, last = text:find(placeholder, 1, true)
  end
  return { text = text, front = first and text:sub(1, first - 1), rest = last and text:sub(last + 1) }
end

function request()
  at = at % #requests + 1
  local one = requests[at]
  if one.front == nil then
    return one.text
  end
  made = made + 1
  local number = tostring(made)
  return one.front .. run .. string.rep('0', length - #run - #number) .. number .. one.rest
end

function done(summary, latency)
  local failed = summary.errors
  local errors = failed.connect + failed.read + failed.write + failed.status + failed.timeout
  io.write(string.format('\n{"requests":%d,"errors":%d,"seconds":%f,"p50":%f,"p99":%f}\n', summary.requests, errors,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
