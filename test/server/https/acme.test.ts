import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { orderCertificate } from '../../../lib/server/https/acme.ts'
import { lacks } from '../../kit/needs.ts'
import { type Pebble, startTrustedPebble } from '../../kit/pebble.ts'

const name = 'home.example.net'
const signal = new AbortController().signal

t.test('an authority issues a certificate once it found our answer on the port', { skip: lacks('pebble') }, async t => {
  const pebble = await startTrustedPebble(t)
  const folder = t.testdir()
  const order = { name, directory: pebble.directory, folder, challenge: { type: 'http-01', port: pebble.challengePort } } as const
  const pem = await orderCertificate(order, signal)
  const certificate = new X509Certificate(pem)
  t.equal(certificate.checkHost(name), name)
  t.match(certificate.issuer, 'Pebble Intermediate CA')
  t.ok(certificate.checkPrivateKey(createPrivateKey(pem)))
  t.equal(pem.match(/BEGIN CERTIFICATE/g)?.length, 2, 'with the certificate between it and the root')

  const [account = '', ...others] = readdirSync(folder)
  t.same(others, [])
  t.match(account, /^account-localhost-\d+\.pem$/)
  t.equal(statSync(join(folder, account)).mode & 0o777, 0o600)
  const key = readFileSync(join(folder, account), 'utf8')
  const again = await orderCertificate(order, signal)
  t.equal(readFileSync(join(folder, account), 'utf8'), key, 'the same account')
  t.notOk(certificate.checkPrivateKey(createPrivateKey(again)), 'another key')
})

t.test('an order that the trial refuses is not placed at the authority', { skip: lacks('pebble') }, async t => {
  const trial = await startTrustedPebble(t)
  const elsewhere = await startTrustedPebble(t, { resolver: trial })
  const challenge = { type: 'http-01', port: elsewhere.challengePort } as const
  const order = { name, directory: elsewhere.directory, trialDirectory: trial.directory, folder: t.testdir(), challenge }
  await t.rejects(orderCertificate(order, signal), {
    name: 'CannotStart',
    message: new RegExp(`^${new URL(trial.directory).host} issued no certificate for ${name}: .+\\.$`)
  })
  t.same(
    readdirSync(order.folder).map(file => file.match(/\d+/)?.[0]),
    [new URL(trial.directory).port],
    'no account there either'
  )
  const both = { ...order, directory: trial.directory, trialDirectory: elsewhere.directory }
  await t.rejects(orderCertificate(both, signal), { message: new RegExp(`^${new URL(trial.directory).host} issued no`) })
  t.equal(readdirSync(order.folder).length, 2, 'a trial that succeeds is followed by the order itself')
})

/** A program that adds and removes records at the name server of the authority, and notes how it was called. */
function writeHook(t: Test, { names }: Pebble): { hook: string; calls: () => string[] } {
  const hook = join(t.testdirName, 'hook')
  const log = join(t.testdirName, 'calls')
  writeFileSync(
    hook,
    `#!${process.execPath}
import { appendFileSync } from 'node:fs'
const [verb, record, value] = process.argv.slice(2)
appendFileSync(${JSON.stringify(log)}, [verb, record, ...Object.keys(process.env).filter(name => name.startsWith('AFIELD'))].join(' ') + '\\n')
const body = JSON.stringify({ host: record + '.', ...(verb === 'add' && { value }) })
fetch(${JSON.stringify(names.management)} + (verb === 'add' ? '/set-txt' : '/clear-txt'), { method: 'POST', body })
`
  )
  chmodSync(hook, 0o755)
  return { hook, calls: () => readFileSync(log, 'utf8').trim().split('\n') }
}

t.test('a program of the operator adds and removes the DNS record', { skip: lacks('pebble') }, async t => {
  t.testdir()
  const pebble = await startTrustedPebble(t)
  const { hook, calls } = writeHook(t, pebble)
  process.env['AFIELD_METRICS_TOKEN'] = 'a secret of ours'
  t.teardown(() => delete process.env['AFIELD_METRICS_TOKEN'])
  const folder = join(t.testdirName, 'https')
  const pem = await orderCertificate({ name, directory: pebble.directory, folder, challenge: { type: 'dns-01', hook } }, signal)
  t.equal(new X509Certificate(pem).checkHost(name), name)
  t.same(calls(), [`add _acme-challenge.${name}`, `remove _acme-challenge.${name}`], 'without our variables')
})

t.test('why there is no certificate is said in one sentence', { skip: lacks('pebble') }, async t => {
  const folder = t.testdir({ hook: '#!/bin/sh\necho "no such zone" >&2\nexit 3\n' })
  const hook = join(folder, 'hook')
  const pebble = await startTrustedPebble(t)
  const order = { name, directory: pebble.directory, folder: join(folder, 'https') }
  const refused = (given: Partial<Parameters<typeof orderCertificate>[0]>, says: RegExp) =>
    t.rejects(orderCertificate({ ...order, challenge: { type: 'dns-01', hook }, ...given }, signal), { message: says })
  await refused({}, /the DNS hook .+ cannot be run \(EACCES\)\.$/)
  chmodSync(hook, 0o755)
  await refused({}, /the DNS hook .+ could not add the record \(exit code 3\): no such zone\.$/)
  const port = Number(new URL(pebble.directory).port)
  await refused({ challenge: { type: 'http-01', port } }, /^Port \d+, where the authority checks the name, is used by another program: /)
})
