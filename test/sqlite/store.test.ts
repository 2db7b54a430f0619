import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { isolationContract } from '../store/contract/isolation.ts'
import { namesakeContract } from '../store/contract/namesakes.ts'
import { ownCountContract } from '../store/contract/own-counts.ts'
import { restartContract } from '../store/contract/restart.ts'
import { partsOfStore } from '../store/contract.ts'
import { proveParts } from './contract.ts'

proveParts(t, isolationContract, namesakeContract, ownCountContract, restartContract)

t.test('each part of the contract is proven by one test of this folder', async t => {
  const tests = globSync(`${import.meta.dirname}/**/*.test.ts`).map(file => readFileSync(file, 'utf8'))
  const calls = tests.flatMap(text => [...text.matchAll(/^proveParts\(t, (.*)\)$/gm)].map(([, names = '']) => names))
  const proven = calls.flatMap(names => names.split(', '))
  const all = Object.values(partsOfStore).map(({ name }) => name)
  t.same(proven.toSorted(), all.toSorted())
})
