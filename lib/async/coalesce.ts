/**
 * Makes many requests few: those of one turn of the event loop share one run, those that arrive while a run is under way share the next
 * one, and each run sees only the last of its requests. Two runs never overlap.
 *
 * The promise settles with the run that served the request. When that fails, everyone who waits for it is told, nobody else, and the
 * next run goes ahead.
 */
export function coalesce<Request>(run: (last: Request) => void | Promise<void>): (request: Request) => Promise<void> {
  let last: Request
  let upcoming: Promise<void> | undefined
  let running: Promise<void> = Promise.resolve()

  const start = async () => {
    upcoming = undefined
    await run(last)
  }

  return request => {
    last = request
    if (!upcoming) {
      upcoming = running.then(start)
      running = upcoming.catch(() => {})
    }
    return upcoming
  }
}
