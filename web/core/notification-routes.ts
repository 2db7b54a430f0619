import { pushRoutes } from '../../lib/protocol/wire/routes/push.ts'
import { routes } from '../../lib/protocol/wire/routes.ts'

// In the bundle, the route table of the client omits the notification routes, because every first load would wait for them.
// Import this file before you call one of them.
Object.assign(routes, pushRoutes)
