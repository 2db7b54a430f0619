import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { CannotStart } from '../lib/exit.ts'
import { createServer } from '../lib/index.ts'
import { completeOptions, optionRows, readOptions } from '../lib/options.ts'

t.test('a flag wins over the environment, which wins over the default', async t => {
  const env = { AFIELD_PORT: '4000', AFIELD_SIGNUP: 'open' }
  const { port, signup, host } = readOptions({ port: 5000 }, env).options
  t.same({ port, signup, host }, { port: 5000, signup: 'open', host: '127.0.0.1' })
})

t.test('the store is in the data directory unless set', async t => {
  t.equal(completeOptions({ data: '/srv/afield' }).store, 'sqlite:afield.db')
  t.equal(completeOptions({ data: '/srv/afield', store: 'sqlite:/big/a.db' }).store, 'sqlite:/big/a.db')
})

t.test('the manual describes where the data is, and the help on this machine names the directory', async t => {
  const row = optionRows().find(({ name }) => name === 'data')
  t.match(row, { shownDefault: "afield in the platform's data directory", defaultHere: completeOptions({}).data })
})

t.test('an empty variable counts as absent', async t => {
  t.equal(readOptions({}, { AFIELD_PORT: '' }).options.port, 3005)
})

const yesAndNo: [text: string, value: boolean][] = [
  ['1', true],
  ['true', true],
  ['on', true],
  ['0', false],
  ['no', false]
]
for (const [text, value] of yesAndNo) {
  t.test(`${text} in the environment means ${value}`, async t => {
    t.equal(readOptions({}, { AFIELD_INSECURE_HTTP: text }).options.insecureHttp, value)
  })
}

const refused: [why: string, flags: Record<string, unknown>, env: Record<string, string>, names: string][] = [
  ['a port that is not a number', { port: Number.NaN }, {}, '--port'],
  ['a port out of range', {}, { AFIELD_PORT: '70000' }, 'AFIELD_PORT'],
  ['an unknown policy', {}, { AFIELD_SIGNUP: 'all' }, 'AFIELD_SIGNUP'],
  ['a word that is neither yes nor no', {}, { AFIELD_INSECURE_HTTP: 'maybe' }, 'AFIELD_INSECURE_HTTP'],
  ['a public URL of another kind', { 'public-url': 'ftp://home.example' }, {}, '--public-url'],
  ['a public URL with a path', { 'public-url': 'https://home.example/sub' }, {}, '--public-url must be an address without a path'],
  ['a public URL with a password', { 'public-url': 'https://me:pw@home.example' }, {}, '--public-url must be an address without'],
  ['a public name over plain HTTP', { 'public-url': 'http://home.example' }, {}, '--insecure-http'],
  ['an invalid origin', { 'cors-origin': 'zzz' }, {}, '--cors-origin must be * or one origin'],
  ['an origin with a slash', {}, { AFIELD_CORS_ORIGIN: 'https://app.example/' }, 'AFIELD_CORS_ORIGIN must be * or one origin'],
  [
    'a tunnel beside a certificate',
    { tunnel: 'cloudflared', https: 'auto' },
    {},
    '--tunnel brings HTTPS and its own public address; leave out --https'
  ],
  ['a tunnel beside a public address', { tunnel: 'tailscale', 'public-url': 'https://home.example' }, {}, 'leave out --public-url'],
  ['a tunnel to another address', { tunnel: 'tailscale', host: '::1' }, {}, '--tunnel needs a server on --host 127.0.0.1'],
  ['an authority over plain HTTP', { 'https-directory': 'http://ca.lan/directory' }, {}, '--https-directory must be the https address'],
  [
    'a socket beside a certificate',
    { socket: 'a.sock', https: 'auto' },
    {},
    '--socket is for a reverse proxy that provides HTTPS; leave out --https auto'
  ],
  ['a socket without a public address', { socket: 'a.sock' }, {}, '--socket needs --public-url'],
  ['a mode in words', { 'socket-mode': 'ug+rw' }, {}, '--socket-mode must be three digits'],
  ['a certificate without its key', { 'tls-cert': 'cert.pem' }, {}, '--tls-key'],
  ['any address over plain HTTP', { host: '0.0.0.0' }, {}, '--insecure-http'],
  ['a public URL that is plain HTTP', { host: '0.0.0.0', 'public-url': 'http://home.example' }, {}, '--insecure-http']
]
for (const [why, flags, env, names] of refused) {
  t.test(`${why} is rejected in one sentence that names ${names}`, async t => {
    const sentence = refusalOf(() => readOptions(flags, env))
    t.match(sentence, names)
    t.notMatch(sentence, '\n')
  })
}

const inWords: [flags: Record<string, unknown>, sentence: string][] = [
  [{ port: Number.NaN }, '--port must be a whole number from 0 to 65535.'],
  [{ port: 70_000 }, '--port must be a whole number from 0 to 65535.'],
  [{ 'idle-after-ms': 0 }, '--idle-after-ms must be a whole number of 1 or more.'],
  [{ 'backup-every': 1.5 }, '--backup-every must be a whole number from 1 to 500.'],
  [{ 'insecure-http': 'maybe' }, '--insecure-http must be true, yes, on or 1, or false, no, off or 0.'],
  [{ signup: 'all' }, '--signup must be one of owner, approve, invite, open, closed.'],
  [{ 'metrics-token': 'short secret' }, '--metrics-token must be text of 16 or more characters.'],
  [{ data: '' }, '--data must be non-empty text.'],
  [{ 'public-url': 'ftp://home.example' }, '--public-url must be an address such as https://home.example.'],
  [{ 'public-url': 'home' }, '--public-url must be an address such as https://home.example.'],
  [{ 'expo-url': 'exp' }, '--expo-url must be off or an address such as https://exp.host.']
]
for (const [flags, sentence] of inWords) {
  t.test(`a rejected option says what it accepts: ${sentence}`, async t => {
    t.equal(
      refusalOf(() => readOptions(flags, {})),
      sentence
    )
  })
}

t.test('an unknown option is rejected by name', async t => {
  t.equal(
    refusalOf(() => completeOptions({ prot: 1 } as object)),
    'There is no option prot.'
  )
})

t.test('with --https auto phones reach the server unless told otherwise', async t => {
  t.equal(completeOptions({ https: 'auto' }).host, '0.0.0.0')
  t.equal(completeOptions({ https: 'auto', host: '127.0.0.1' }).host, '127.0.0.1')
})

t.test('a public URL loses its trailing slash', async t => {
  t.equal(completeOptions({ publicUrl: 'https://home.example/' }).publicUrl, 'https://home.example')
})

const accepted: [why: string, flags: Record<string, unknown>][] = [
  ['a certificate', { 'tls-cert': 'cert.pem', 'tls-key': 'key.pem' }],
  ['a proxy in front', { 'public-url': 'https://home.example' }],
  ['a certificate that the server gets', { https: 'auto' }],
  ['explicit consent', { 'insecure-http': true }]
]
for (const [why, flags] of accepted) {
  t.test(`any address is allowed with ${why}`, async t => {
    t.equal(readOptions({ host: '0.0.0.0', ...flags }, {}).options.host, '0.0.0.0')
  })
}

function refusalOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof CannotStart && error.exitCode === 78) return error.message
    throw error
  }
  throw new Error('It was accepted.')
}

t.test('the database is in the data directory, however that is set', async t => {
  const home = t.testdir()
  const server = await createServer({ data: relative(process.cwd(), join(home, 'data')), port: 0, logLevel: 'silent', expoUrl: 'off' })
  await server.close()
  t.ok(existsSync(join(home, 'data', 'afield.db')))
})
