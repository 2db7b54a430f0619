import { TestBase } from '@tapjs/core'

// tap removes the folder of a test before it runs the teardown of the test, unless one was registered
// before the folder was created. A server still running would write into a folder that is being removed.
const { main } = TestBase.prototype
TestBase.prototype.main = function (done) {
  this.t.teardown(() => {})
  // It removes their time limit when a test is over, also for others that share them.
  this.options = { ...this.options }
  return main.call(this, done)
}
