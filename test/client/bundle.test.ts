import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import t from 'tap'

t.test('in a browser bundle the client adds no Node module and no second crypto engine, and stays small', async t => {
  const bundled = await build({
    entryPoints: ['lib/client/index.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['browser'],
    metafile: true,
    write: false,
    logLevel: 'silent'
  })
  const inputs = Object.keys(bundled.metafile.inputs)
  t.notOk(inputs.some(path => path.includes('libsodium')))
  t.notOk(Object.values(bundled.metafile.inputs).some(({ imports }) => imports.some(({ path }) => path.startsWith('node:'))))
  const size = gzipSync(bundled.outputFiles[0]?.contents ?? '').length
  t.ok(size < 105_000, `${size} bytes with gzip`)
})
