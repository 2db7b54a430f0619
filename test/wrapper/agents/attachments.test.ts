import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { type Announced, createAttachments, imageTypeOf, safeName } from '../../../lib/wrapper/agents/attachments.ts'
import { ownName } from '../../../lib/wrapper/home/processes.ts'

t.test('a file is named to the agent and removed with the session; files left by a killed wrapper stay for a day', async t => {
  const before = process.env['TMPDIR']
  const place = mkdtempSync(join(tmpdir(), 'afield-place-'))
  process.env['TMPDIR'] = place
  t.teardown(() => {
    rmSync(place, { recursive: true })
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
  const leave = (name: string, hoursAgo: number) => {
    const folder = join(place, `afield-attachments-${name}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'a.pdf'), 'left')
    const at = Date.now() / 1000 - hoursAgo * 3600
    utimesSync(folder, at, at)
  }
  leave('old@999999-1', 25)
  leave('new@999999-1', 23)
  leave(`running@${ownName()}`, 25)
  const attachments = createAttachments({
    download: async () => new TextEncoder().encode('words'),
    takesImages: () => false,
    tell: async () => {}
  })
  const { text } = await attachments.join('Read this', [{ ref: 'r', name: 'b.txt', size: 5 }])
  const [path = ''] = /\S+b\.txt$/.exec(text) ?? []
  t.equal(statSync(path).mode & 0o777, 0o600)
  const names = () =>
    readdirSync(place)
      .map(name => name.replace(/^afield-attachments-|@.*/g, ''))
      .filter(name => name.length < 10)
      .toSorted()
  t.strictSame(names(), ['new', 'running'])
  attachments.close()
  t.equal(readdirSync(place).length, 2, 'its own is gone')
})

t.test('images go to an agent that takes them; larger and other files are named in the text', async t => {
  const png = Buffer.from('\x89PNG and so on', 'latin1')
  const atLimit = Buffer.concat([png, Buffer.alloc(4 * 1024 * 1024 - png.length)])
  const files: Record<string, Uint8Array> = {
    small: png,
    large: atLimit,
    'too large': Buffer.concat([atLimit, png]),
    words: Buffer.from('words')
  }
  const announced = Object.keys(files).map(name => ({ ref: name, name: `${name}.png`, size: 5 }))
  const take = async (takesImages: boolean, text: string, of: readonly Announced[]) => {
    const attachments = createAttachments({
      download: async ({ ref }) => files[ref] ?? png,
      takesImages: () => takesImages,
      async tell() {}
    })
    t.teardown(() => attachments.close())
    const taken = await attachments.join(text, of)
    const paths = taken.text.split('\n').flatMap(line => (line.startsWith('- ') ? line.slice(2) : []))
    return { ...taken, paths, sizes: paths.map(path => readFileSync(path).length) }
  }
  const shown = await take(true, 'Look', announced)
  t.strictSame(shown.images, [
    { mimeType: 'image/png', bytes: png },
    { mimeType: 'image/png', bytes: atLimit }
  ])
  t.strictSame(shown.sizes, [atLimit.length + png.length, 5])
  t.equal(shown.text, `Look\n\nFiles attached to this message:\n- ${shown.paths[0]}\n- ${shown.paths[1]}`)
  t.equal(statSync(dirname(dirname(shown.paths[0] ?? ''))).mode & 0o777, 0o700)
  t.strictSame((await take(true, ' Look ', announced.slice(0, 1))).text, ' Look ')

  const named = await take(false, '', [...announced.slice(0, 1), ...announced.slice(0, 1)])
  t.strictSame([named.images, named.sizes], [[], [png.length, png.length]])
  t.match(named.text, /^Files attached to this message:\n- /)
  t.equal(new Set(named.paths).size, 2, 'two of one name are both there')
})

t.test('a file that cannot be attached is reported, and the others are', async t => {
  const told: string[] = []
  const attachments = createAttachments({
    async download({ ref }) {
      if (ref === 'broken') throw new Error('it cannot be decrypted')
      return Buffer.from('GIF89a')
    },
    takesImages: () => true,
    tell: async sentence => void told.push(sentence)
  })
  t.teardown(() => attachments.close())
  const most = 10 * 1024 * 1024
  const { text, images } = await attachments.join('Look', [
    { ref: 'broken', name: 'a/b.txt', size: 1 },
    { ref: 'large', name: 'c.txt', size: most + 1 },
    { ref: 'whole', name: 'd.gif', size: most }
  ])
  t.strictSame([text, images.map(({ mimeType }) => mimeType)], ['Look', ['image/gif']])
  t.strictSame(told.toSorted(), [
    'b.txt could not be attached to your message: it cannot be decrypted.',
    'c.txt could not be attached to your message: it is larger than 10 MB.'
  ])
})

t.test('an image is known by its bytes', t => {
  const cases: [bytes: string, type: string | undefined][] = [
    ['\x89PNG', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF87a', 'image/gif'],
    ['RIFF\n\0\0\0WEBPVP8', 'image/webp'],
    ['RIFF\n\0\0\0WAVEfmt', undefined],
    [' \x89PNG', undefined],
    ['', undefined]
  ]
  for (const [bytes, type] of cases) t.equal(imageTypeOf(Buffer.from(bytes, 'latin1')), type, JSON.stringify(bytes))
  t.end()
})

t.test('the name of a file stays in its folder, is visible and not too long', t => {
  const cases: [name: string, safe: string][] = [
    ['Lebenslauf (neu) – 2.pdf', 'Lebenslauf _neu_ _ 2.pdf'],
    ['简历.pdf', '简历.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\secret\\a-b_c.txt', 'a-b_c.txt'],
    ['..hidden', 'hidden'],
    ['a.b\nc', 'a.b_c'],
    ['..', 'file'],
    ['', 'file'],
    [`${'x'.repeat(120)}.pdf`, `${'x'.repeat(96)}.pdf`]
  ]
  for (const [name, safe] of cases) t.equal(safeName(name), safe, name)
  t.end()
})
