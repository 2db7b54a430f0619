import t from 'tap'
import { onUse } from '../../../../web/ui/behavior/on-use.ts'

t.test('code is fetched once, on first use, and again every 3 s until it comes', async t => {
  const later: [run: () => void, ms: number][] = []
  const timeout = (run: () => void, ms: number) => void later.push([run, ms])
  let fetched = 0
  let isThere = false
  const code = onUse(async () => {
    fetched++
    if (!isThere) throw new Error('no connection')
    return 'code'
  })
  t.equal(fetched, 0)
  t.intercept(globalThis, 'setTimeout', { value: timeout })
  t.equal(code.get(), undefined)
  const loading = code.load()
  await settled()
  t.equal(fetched, 1)
  t.equal(later[0]?.[1], 3000)
  later.shift()?.[0]()
  await settled()
  t.equal(fetched, 2)
  isThere = true
  later.shift()?.[0]()
  t.equal(await loading, 'code')
  t.equal(code.get(), 'code')
  t.equal(await code.load(), 'code')
  t.equal(fetched, 3)
})

function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
