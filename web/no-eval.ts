// The policy of the page forbids code made from text, and the validator asking for it would be reported as an attack. Its settings are read
// from here when its first schema is made; calling its own `config` instead would bring all of it into the first script.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
