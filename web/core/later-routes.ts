import { pushRoutes } from '../../lib/protocol/wire/routes/push.ts'
import { routes } from '../../lib/protocol/wire/routes.ts'

// In the bundle the table of the link begins without the routes of notifications, which would make every first load wait for them.
// Whoever asks for one of them imports this file first.
Object.assign(routes, pushRoutes)
