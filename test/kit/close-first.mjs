import { TestBase } from '@tapjs/core'

// tap removes the folder of a test before it runs what the test registered for its end, unless something was registered
// before the folder was made. A server that still runs would write into a folder that is being removed.
const { main } = TestBase.prototype
TestBase.prototype.main = function (done) {
  this.t.teardown(() => {})
  // It takes the time limit out of them when a test is over, also for others that share them.
  this.options = { ...this.options }
  return main.call(this, done)
}
