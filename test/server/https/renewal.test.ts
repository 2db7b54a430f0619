import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CertificateFile } from '../../../lib/server/https/certificate-file.ts'
import { CertificateRenewal, type Source } from '../../../lib/server/https/renewal.ts'
import { issuedCertificate } from '../../kit/certificate.ts'
import { manualClock } from '../../kit/manual-clock.ts'

const name = 'home.example.net'
const hourMs = 60 * 60 * 1000
const log = { error() {}, warn() {}, info() {}, debug() {}, isLevelEnabled: () => false }

/** A certificate for two days that is `usedHours` old, and a source that is asked for the next one. */
function startRenewal(t: Test, { usedHours, random = 0 }: { usedHours: number; random?: number }) {
  const pem = issuedCertificate(t.testdir(), name)
  const file = new CertificateFile(join(t.testdirName, 'https'), name)
  file.replace(pem)
  const begun = (file.validity()?.from ?? 0) + usedHours * hourMs
  const clock = manualClock()
  const asked: { atHours: number; isTried: boolean }[] = []
  let refusals = 0
  const source: Source = {
    name,
    authority: 'an authority',
    async obtain(isTried) {
      asked.push({ atHours: clock.now() / hourMs, isTried })
      if (refusals-- > 0) throw new Error('Not today.')
      return pem
    }
  }
  const said: string[] = []
  const now = () => begun + clock.now()
  const deps = { clock, now, log, tell: (sentence: string) => void said.push(sentence), random: () => random }
  const renewal = new CertificateRenewal(source, file, deps)
  t.teardown(() => renewal.close())
  const pass = async (hours: number) => {
    for (let step = 0; step < hours * 12; step++) {
      clock.advance(hourMs / 12)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  return { asked, said, pass, refuse: (times: number) => (refusals = times) }
}

t.test('a certificate is renewed when a third of its life is left', async t => {
  const { asked, pass } = startRenewal(t, { usedHours: 30 })
  await pass(1.9)
  t.same(asked, [])
  await pass(0.2)
  t.match(asked, [{ isTried: true }])
})

t.test('not everyone renews at the same moment', async t => {
  const { asked, pass } = startRenewal(t, { usedHours: 30, random: 0.9 })
  await pass(0.6)
  t.equal(asked.length, 1)
})

t.test('after failures it waits longer each time, and tries the setup out again', async t => {
  const { asked, said, pass, refuse } = startRenewal(t, { usedHours: 31 })
  refuse(10)
  await pass(26)
  const waits = asked.slice(1).map(({ atHours }, index) => Math.round((atHours - (asked[index]?.atHours ?? 0)) * 60))
  t.same(waits.slice(0, 8), [5, 10, 20, 40, 80, 160, 320, 640])
  t.same(
    asked.map(({ isTried }) => isTried),
    asked.map((_, index) => index === 0)
  )
  t.match(said[0], /^No certificate for home\.example\.net: Not today\. Next try at \d\d:\d\d\.$/)
  t.equal(said.length, asked.length)
})
