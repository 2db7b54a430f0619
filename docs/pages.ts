import { optionRows } from '../lib/options.ts'
import { sealedBy, sealedFor, sealFault } from '../lib/protocol/sealed/sealed-for.ts'
import { ephemeral } from '../lib/protocol/wire/ephemerals.ts'
import { type ClientEvent, events } from '../lib/protocol/wire/events.ts'
import { callFailures, failures } from '../lib/protocol/wire/failures.ts'
import { handshake, socketPath } from '../lib/protocol/wire/handshake.ts'
import { type RouteName, routes } from '../lib/protocol/wire/routes.ts'
import type { Need } from '../lib/protocol/wire/scopes.ts'
import { update } from '../lib/protocol/wire/updates.ts'
import type * as v from '../lib/schema.ts'
import { drawings } from './drawings.ts'
import { evidencePage, readRuns, recordPath, recordText } from './evidence.ts'
import { eventTexts, routeTexts } from './route-texts.ts'
import { shapeOf } from './shapes.ts'
import { table } from './tables.ts'

/** The generated files of docs/ and their content, made from the tables that the program itself uses, and from the records of proofs and benches. */
export function pages(): Record<string, string> {
  const runs = readRuns()
  return {
    'docs/options.md': optionsPage(),
    'docs/protocol.md': protocolPage(),
    'docs/evidence.md': evidencePage(runs),
    [recordPath]: recordText(runs),
    ...drawings()
  }
}

const generated = '<!-- Made by `node build.mjs docs` from the tables the program uses. -->'

function optionsPage(): string {
  const secretFiles = optionRows().flatMap(({ env, isSecret }) => (isSecret ? [`\`${env}_FILE\``] : []))
  const rows = optionRows().map(({ flag, env, name, choices, shownDefault, about }) => [
    `\`--${flag}\``,
    `\`${env}\``,
    `\`${name}\``,
    shownDefault ?? '',
    about + (choices ? ` One of ${choices.map(choice => `\`${choice}\``).join(', ')}.` : '')
  ])
  return `${generated}

# Options of the server

Each option is a flag or environment variable of \`afield serve\`, a line of its configuration file, and a field of \`createServer\`. A flag wins over the
environment, and the environment over the file.

The file is named by \`--config\` or \`AFIELD_CONFIG\`. It is TOML, or JSON if its name ends in \`.json\`, with the names of the flags; paths in it are relative to
its folder:

\`\`\`toml
public-url = "https://home.example"
signup = "invite"
backup-every = 24
backup-to = "/mnt/other-disk/afield"
\`\`\`

\`afield config\` shows the options that a start would use and where each comes from, and \`afield config check\` whether it would start. Secrets can be
in files of their own: ${secretFiles.slice(0, -1).join(', ')} and ${secretFiles.at(-1)} name them.

${table(['flag', 'environment', 'field', 'default', 'what it does'], rows)}`
}

function protocolPage(): string {
  return `${generated}

# The protocol

Requests, events and values between clients and server. \`sealed\` texts are encrypted between wrapper and app; the server stores and routes them unread.
Additions that existing clients neither send nor need are marked **ours**.

## HTTP

A request that needs an account carries \`Authorization: Bearer <token>\`. Bodies are JSON, except byte streams.

An address of the server that ends in a slash is the same server: each path is also served with one more slash before it. A \`GET /\` whose
\`Accept\` has no \`text/html\` is answered with the text \`Welcome to Happy Server!\`, which pages of any origin may read: Happy's app asks for it before
it accepts an address. Browsers get the app.

${routeNames.map(routeSection).join('\n')}
## Socket.IO

Served at \`${socketPath}\`. The \`auth\` object of the connection:

\`\`\`ts
${shapeOf(handshake)}
\`\`\`

### From client to server

${Object.entries(events)
  .map(([name, { needs, payload, ack, ours }]) =>
    section(`\`${name}\``, eventTexts[name as ClientEvent] + neededScope(needs), ours, { payload, acknowledgement: ack })
  )
  .join('\n')}
### From server to client

${section('`update`', 'A permanent change. `seq` rises by one with each change of the account; clients ignore unknown kinds.', false, { frame: update })}
${section('`ephemeral`', 'Current state that is not stored.', false, { frame: ephemeral })}
## Sealed content says what it is for

**ours**: existing clients seal neither field and drop both. [Why](decisions/0022-what-is-sealed-says-what-it-is-for.md), and [what a malicious server can still do](threats.md).

The sealed parameters of a call carry \`sealedFor\` of type \`call\` beside them. The callee checks that target and method match the call, and that it has not seen the call before. A call that sets the same thing as an earlier one is rejected if its \`by.number\` is lower than the last of its \`by.sender\`. The sealed answer is
\`{ sealedFor, result }\` with the same fields and type \`answer\`; the result of a failure is \`{ error }\`. A call without \`sealedFor\` is answered without it.

\`\`\`ts
sealedFor: ${shapeOf(sealedFor)}
\`\`\`

The sealed body of a message carries \`meta.sealedBy\`. Numbers of a sender rise by one within a session; \`gone\` lists those that will never come.

\`\`\`ts
sealedBy: ${shapeOf(sealedBy)}
\`\`\`

A wrapper reports violations in a \`service\` event with \`fault\`:

\`\`\`ts
fault: ${shapeOf(sealFault)}
\`\`\`

## Refusals

The body is \`{ "error": text }\`. If *retry* is yes, the same request may succeed later.

${table(
  ['status', 'text', 'retry'],
  Object.values(failures).map(({ status, says, retry }) => [String(status), says, retry ? 'yes' : ''])
)}
A call over Socket.IO that fails is acknowledged with \`{ ok: false, error: text }\`:

${table(
  ['text'],
  Object.values(callFailures).map(says => [says])
)}`
}

type AnyRoute = (typeof routes)[keyof typeof routes]

// TypeScript types the keys of an object only as string.
const routeNames = Object.keys(routes) as RouteName[]

function routeSection(name: RouteName): string {
  const { method, path, auth, ours, query, body, reply, conflict }: AnyRoute = routes[name]
  const access = auth === 'none' ? ' Requires no account.' : neededScope(auth)
  return section(`\`${method} ${path}\``, routeTexts[name] + access, ours, {
    query,
    ...(method !== 'GET' && { body }),
    reply,
    '409': conflict
  })
}

function neededScope(need: Need): string {
  return need === 'any' ? '' : ` Requires the scope \`${need}\`.`
}

function section(title: string, about: string, ours: boolean, parts: Record<string, v.GenericSchema | undefined>): string {
  const lines = Object.entries(parts).flatMap(([name, schema]) => {
    const shape = shapeOf(schema)
    return shape === '{}' || shape === 'nothing' ? [] : [`${name}: ${shape}`]
  })
  const code = lines.length > 0 ? `\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n` : ''
  return `#### ${title}${ours ? ' · ours' : ''}\n\n${about}\n${code}`
}
