import t from 'tap'
import { isolationContract } from '../store/contract/isolation.ts'
import { lifeContract } from '../store/contract/lives.ts'
import { namesakeContract } from '../store/contract/namesakes.ts'
import { ownCountContract } from '../store/contract/own-counts.ts'
import { restartContract } from '../store/contract/restart.ts'
import { eachPartIsProven } from '../store/proven-parts.ts'
import { proveParts } from './contract.ts'

proveParts(t, isolationContract, namesakeContract, ownCountContract, lifeContract, restartContract)

eachPartIsProven(t, import.meta.dirname)
