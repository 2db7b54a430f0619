import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { saveAnswer } from '../../bin/reach-answer.ts'
import { readDataOptions, readServerOptions, secretFileVariables, serviceHint } from '../../bin/server-options.ts'

const args = (options: object = {}) => ({ _: [], $0: '', ...options })

t.test('the answer of an earlier start counts where no option says how phones reach the server', t => {
  const data = t.testdir()
  const read = (options: object = {}, env: Record<string, string> = {}, answered?: object) => {
    const { options: all, sources, reach } = readServerOptions(args({ data, ...options }), env, answered)
    return { https: all.https, publicUrl: all.publicUrl, port: all.port, from: sources.get('https'), reach }
  }
  const none = { https: 'off', publicUrl: undefined, port: 3005, from: undefined }
  t.strictSame(read(), { ...none, reach: 'open' })
  t.strictSame(read({}, {}, { https: 'auto' }), {
    ...none,
    https: 'auto',
    from: `https in ${join(data, 'reach.json')}`,
    reach: 'remembered'
  })
  const url = 'https://home.example:3005'
  saveAnswer(data, { taken: { https: 'auto', 'public-url': url }, declined: [] })
  const taken = { ...none, https: 'auto', publicUrl: url, from: `https in ${join(data, 'reach.json')}`, reach: 'remembered' }
  t.strictSame(read(), taken)
  t.strictSame(read({ port: 4000 }), { ...taken, port: 4000 }, 'other options stay')
  t.strictSame(read({}, {}, { https: 'off' }).https, 'off', 'the answer of this start wins over it')
  t.strictSame(read({ host: '127.0.0.1' }), { ...none, reach: 'chosen' })
  t.strictSame(read({}, { AFIELD_DEV: 'true' }), { ...none, reach: 'chosen' })
  const config = join(data, 'afield.toml')
  writeFileSync(config, 'port = 4100\n')
  t.strictSame(read({ config }), { ...taken, port: 4100 }, 'those of a file too')
  t.strictSame(read({}, { AFIELD_CONFIG: config }).port, 4100)
  const whole = readServerOptions(args({ data, config }), {})
  t.equal(whole.file?.name, config, 'with the answer too')
  t.equal(readServerOptions(args({ data, host: '127.0.0.1' }), {}).sources.get('host'), '--host')
  t.strictSame(read({ config }, { AFIELD_CONFIG: '/nowhere' }).port, 4100, 'the flag wins')
  t.strictSame(read({}, { AFIELD_CONFIG: '' }).port, 3005)
  t.end()
})

t.test('a secret is read from the file that a variable names, and from one place only', t => {
  const data = t.testdir({ token: ' a-token-nobody-sees \n' })
  const path = join(data, 'token')
  t.ok(secretFileVariables().includes('AFIELD_METRICS_TOKEN_FILE'))
  t.notOk(secretFileVariables().includes('AFIELD_PORT_FILE'))
  const { options, sources } = readServerOptions(args({ data }), { AFIELD_METRICS_TOKEN_FILE: path })
  t.equal(options.metricsToken, 'a-token-nobody-sees')
  t.equal(sources.get('metricsToken'), 'AFIELD_METRICS_TOKEN_FILE')
  t.equal(
    readServerOptions(args({ data }), { AFIELD_METRICS_TOKEN: 'another-secret-token', AFIELD_METRICS_TOKEN_FILE: '' }).sources.get(
      'metricsToken'
    ),
    'AFIELD_METRICS_TOKEN'
  )
  const refused = (env: Record<string, string>, message: string) =>
    t.throws(() => readServerOptions(args({ data }), env), { message, exitCode: 78 })
  refused(
    { AFIELD_METRICS_TOKEN: 'x', AFIELD_METRICS_TOKEN_FILE: path },
    'AFIELD_METRICS_TOKEN and AFIELD_METRICS_TOKEN_FILE cannot both be set.'
  )
  refused({ AFIELD_METRICS_TOKEN_FILE: '/nowhere' }, 'The file /nowhere of AFIELD_METRICS_TOKEN_FILE cannot be read.')
  t.end()
})

t.test('a command beside the server says where the name of its data directory is from, unless it was typed', t => {
  const data = t.testdir()
  const said = (options: object, env: Record<string, string>) => {
    const own = t.intercept(process, 'env', { value: env })
    const err = t.capture(process.stderr, 'write', () => true)
    const read = readDataOptions(args(options))
    own.restore()
    err.restore()
    t.strictSame(Object.keys(read), ['data', 'store'])
    t.equal(read.data, data)
    return err().map(({ args }) => args[0])
  }
  t.strictSame(said({ data }, { AFIELD_DATA: '/elsewhere' }), [])
  t.strictSame(said({}, { AFIELD_DATA: data }), [`Data directory: ${data} (from AFIELD_DATA)\n`])
  t.end()
})

t.test('the server that runs as a service is named only to who has no data', t => {
  const own = t.testdir({ 'afield.toml': '' })
  const config = join(own, 'afield.toml')
  t.equal(serviceHint(join(own, 'none'), config), `For the server that runs as a service here, add as root: --config ${config}`)
  t.equal(serviceHint(own, config), undefined)
  t.equal(serviceHint(join(own, 'none'), join(own, 'other.toml')), undefined)
  t.end()
})
