import CZeroMQ
import MessageBus

/// Says to libzmq which peers may connect (ZAP 1.0, RFC 27), when it asks at `inproc://zeromq.zap.01` in the hub's
/// context.
///
/// It is used for an open hub too, where it lets every peer in: libzmq then refuses the oldest protocols, ZMTP 1 and 2,
/// in which certain noise makes it abort (4.3.4: zmtp_engine.cpp:463, unreachable with ZAP).
struct Doorkeeper {
    static let domain = "healthbus"

    enum Verdict: Equatable {
        case admitted(identity: String, publicKey: String)
        case unknownKey(address: String)
        case malformed
    }

    let socket: ZeroMQSocket

    init(_ context: ZeroMQContext) throws {
        socket = try ZeroMQSocket(context, type: ZMQ_REP, highWaterMark: 0, linger: 0)
        try socket.bind("inproc://zeromq.zap.01")
    }

    /// Answers one request; nil when none is waiting.
    func answer(_ guests: GuestList?) throws -> Verdict? {
        guard let request = try socket.receive() else { return nil }
        let (reply, verdict) = Self.reply(to: request, guests: guests)
        _ = try socket.send(reply)
        return verdict
    }

    /// - Parameters:
    ///   - request: version, request id, domain, address, routing id, mechanism, credentials.
    ///   - guests: nil lets every peer in, without a name.
    static func reply(to request: [[UInt8]], guests: GuestList?) -> (frames: [[UInt8]], verdict: Verdict) {
        func frames(_ status: String, _ user: String) -> [[UInt8]] {
            [Array("1.0".utf8), request.count > 1 ? request[1] : [], Array(status.utf8), [], Array(user.utf8), []]
        }
        guard request.count >= 6, request[0] == Array("1.0".utf8) else { return (frames("500", ""), .malformed) }
        guard let guests else { return (frames("200", ""), .admitted(identity: "", publicKey: "")) }
        guard request[5] == Array("CURVE".utf8), request.count == 7, let key = BusKeyPair.text(of: request[6]),
            let identity = guests.identities[key]
        else { return (frames("400", ""), .unknownKey(address: String(decoding: request[3], as: UTF8.self))) }
        return (frames("200", identity), .admitted(identity: identity, publicKey: key))
    }
}
