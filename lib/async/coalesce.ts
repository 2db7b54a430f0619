/**
 * Reduces many requests to few runs: requests of one turn of the event loop share one run, those that arrive
 * during a run share the next one, and each run sees only the last of its requests. Two runs never overlap.
 *
 * The promise settles with the run that served the request. If that fails, all its waiters get the error,
 * nobody else does, and the next run proceeds.
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
