import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

// A whole run has tap as one file, which loads faster (test/kit/bundles.mjs). In a thread of a test it would speak to the test.
const bundled = isMainThread && process.env.AFIELD_TEST_TAP
if (bundled) {
  const found = { url: pathToFileURL(bundled).href, format: 'module', shortCircuit: true }
  registerHooks({
    resolve: (name, context, next) => (name === 'tap' || name === '@tapjs/core' ? found : next(name, context))
  })
}
const { TestBase } = await import('@tapjs/core')

// tap removes the folder of a test before it runs the teardown of the test, unless one was registered
// before the folder was created. A server still running would write into a folder that is being removed.
const { main } = TestBase.prototype
TestBase.prototype.main = function (done) {
  this.t.teardown(() => {})
  // It removes their time limit when a test is over, also for others that share them.
  this.options = { ...this.options }
  return main.call(this, done)
}
