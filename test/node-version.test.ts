import t from 'tap'
import { versionRefusal } from '../lib/node-version.ts'

for (const version of ['22.19.0', '22.20.1', '24.21.0', '25.0.0']) {
  t.test(`Node.js ${version} is accepted`, async t => t.equal(versionRefusal(version), undefined))
}

for (const version of ['18.20.0', '20.20.2', '22.18.0', '26.0.0']) {
  t.test(`Node.js ${version} is rejected in one sentence`, async t => t.match(versionRefusal(version), /^Afield .*Node\.js.*\.$/))
}
