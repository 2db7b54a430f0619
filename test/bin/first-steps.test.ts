import decode from 'qr/decode.js'
import t from 'tap'
import { firstSteps } from '../../bin/first-steps.ts'

const setupCode = { code: 'ABCD-EFGH', file: '/data/setup-code' }
const tunnel = { url: 'http://127.0.0.1:3005', publicUrl: 'https://amber-river-of-words.trycloudflare.com' }
const nothing = { https: 'off', tunnel: undefined, data: '/data' } as const
const terminal = { isTTY: true, columns: 80 }
/** Pixels of one module, as a camera sees it. */
const scale = 4
const log = { isTTY: false, columns: Number.POSITIVE_INFINITY }

t.test('a phone that scans the code of a new server opens the page that creates the first account', async t => {
  const shown = firstSteps({ ...tunnel, setupCode }, nothing, terminal)
  t.equal(readCode(shown), `${tunnel.publicUrl}/#setup=${setupCode.code}`)
  const later = firstSteps({ ...tunnel, setupCode: undefined }, nothing, terminal)
  t.equal(readCode(later), tunnel.publicUrl)
})

t.test('no code is drawn for an address that a phone cannot use, and the ways to one that it can are named', async t => {
  const local = { publicUrl: undefined, setupCode }
  for (const url of ['http://127.0.0.1:3005', 'http://0.0.0.0:3005', 'http://[::1]:3005']) {
    const shown = firstSteps({ ...local, url }, nothing, terminal)
    t.notMatch(shown, /[█▀▄]/, url)
    t.match(shown.replaceAll('\n', ' '), /requires HTTPS.+--https auto .+--tunnel cloudflared .+--tls-cert/)
  }
  const own = firstSteps({ ...local, url: 'https://127.0.0.1:3005' }, nothing, terminal)
  t.match(own.replaceAll('\n', ' '), /Phones cannot reach https:\/\/127\.0\.0\.1:3005\. Add --host 0\.0\.0\.0/)
})

t.test('the first step says where to open the address, and what was tried to make it one for phones', t => {
  const at = { url: 'http://127.0.0.1:3005', setupCode: undefined }
  const lines = (
    server: Parameters<typeof firstSteps>[0],
    options: Parameters<typeof firstSteps>[1],
    advice: Parameters<typeof firstSteps>[3] = []
  ) => firstSteps(server, options, log, advice).split('\n')
  t.match(lines({ ...at, publicUrl: undefined }, nothing)[1], /^1\. Open this in a browser on this computer\.$/)
  t.match(lines({ ...at, publicUrl: 'http://192.0.2.4:3005' }, nothing)[1], /^1\. Open this in a browser\.$/)
  t.match(lines({ ...tunnel, setupCode }, nothing)[1], /^1\. Create your account: open this on your phone\.$/)
  t.equal(lines({ ...tunnel, setupCode: undefined }, nothing)[3], '', 'there is no code, and no file with one')
  const tried = 'Phones cannot reach the server yet; the reason is above.'
  t.equal(lines({ ...at, publicUrl: undefined }, { ...nothing, https: 'auto' }).at(-1), tried)
  t.equal(lines({ ...at, publicUrl: undefined }, { ...nothing, tunnel: 'cloudflared' }).at(-1), tried)
  const advice = [{ text: '- Install Tailscale', lines: ['apt install tailscale'] }]
  t.strictSame(lines({ ...at, publicUrl: undefined }, nothing, advice).slice(-2), ['- Install Tailscale', '  apt install tailscale'])
  const narrow = firstSteps({ ...at, publicUrl: undefined }, nothing, { isTTY: false, columns: 12 }, advice).split('\n')
  t.strictSame(narrow.slice(-3), ['- Install', '  Tailscale', '  apt install tailscale'])
  t.end()
})

t.test('a log gets plain lines: neither a code to scan nor the setup code', async t => {
  const shown = firstSteps({ ...tunnel, setupCode }, nothing, log)
  t.notMatch(shown, /[█▀▄]/)
  t.notMatch(shown, '\x1b')
  t.notMatch(shown, setupCode.code)
  t.match(shown, /The setup code is in \/data\/setup-code$/m)
})

t.test('no line is wider than the terminal, except what is copied; a terminal too narrow for the code gets none', async t => {
  for (const columns of [20, 40, 80]) {
    const shown = firstSteps({ ...tunnel, setupCode }, nothing, { isTTY: true, columns })
    const wide = shown.split('\n').filter(line => line.length > columns && !/^( {2}|afield listening on )/.test(line))
    t.strictSame(wide, [])
    t.equal(/[█▀▄]/.test(shown), columns >= 40)
  }
})

/** What a camera reads from the half blocks on a screen. */
function readCode(shown: string): string {
  const [, ...lines] = shown.split('\x1b[30;107m')
  const rows = lines.map(line => [...(line.split('\x1b')[0] ?? '')])
  const width = (rows[0]?.length ?? 0) * scale
  const height = rows.length * 2 * scale
  const data = new Uint8Array(width * height * 4)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const row = Math.floor(y / scale)
      const mark = rows[row >> 1]?.[Math.floor(x / scale)] ?? ' '
      const isDark = mark === '█' || mark === (row % 2 === 0 ? '▀' : '▄')
      data.set([...Array(3).fill(isDark ? 0 : 255), 255], (y * width + x) * 4)
    }
  return decode({ width, height, data })
}
