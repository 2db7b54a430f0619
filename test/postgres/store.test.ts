import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { partsOfStore } from '../store/contract.ts'
import { proveParts } from './contract.ts'

proveParts(t, 'isolation', 'namesakes', 'own counts', 'lives', 'restart')

t.test('each part of the contract is proven by one test of this folder', async t => {
  const tests = globSync(`${import.meta.dirname}/**/*.test.ts`).map(file => readFileSync(file, 'utf8'))
  const calls = tests.flatMap(text => [...text.matchAll(/^proveParts\(t, (.*)\)$/gm)].map(([, names = '']) => names))
  const proven = calls.flatMap(names => [...names.matchAll(/'([^']+)'/g)].map(([, name]) => name))
  t.same(proven.toSorted(), Object.keys(partsOfStore).toSorted())
})
