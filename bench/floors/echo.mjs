import { WebSocketServer } from 'ws'

/** Sends every frame back; says its port on standard output and ends with its parent. */
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (peer) => peer.on('message', (data) => peer.send(data.toString())))
server.on('listening', () => console.log(server.address().port))
process.stdin.resume().on('end', () => process.exit(0))
