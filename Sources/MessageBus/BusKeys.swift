import CZeroMQ

/// A CURVE key pair (Curve25519), in Z85: 40 characters each.
package struct BusKeyPair: Sendable, Equatable, CustomStringConvertible {
    package let publicKey: String
    package let secret: String

    /// - Throws: `BusKeyError` if the text isn't a key.
    package init(secret: String) throws(BusKeyError) {
        guard BusKeyPair.isKey(secret) else { throw .malformed }
        var text = [CChar](repeating: 0, count: 41)
        guard zmq_curve_public(&text, secret) == 0 else { throw .malformed }
        publicKey = Self.text(text)
        self.secret = secret
    }

    /// A new pair from the system's random generator.
    package static func make() throws(BusKeyError) -> BusKeyPair {
        var open = [CChar](repeating: 0, count: 41)
        var secret = open
        guard zmq_curve_keypair(&open, &secret) == 0 else { throw .unsupported }
        return try BusKeyPair(secret: text(secret))
    }

    /// Whether a string has the form of a key. Any 32 bytes are a valid key.
    package static func isKey(_ text: String) -> Bool {
        guard text.utf8.count == 40 else { return false }
        var bytes = [UInt8](repeating: 0, count: 32)
        return zmq_z85_decode(&bytes, text) != nil
    }

    /// A public key in Z85, from its 32 bytes as libzmq passes them to the hub.
    package static func text(of bytes: [UInt8]) -> String? {
        guard bytes.count == 32 else { return nil }
        var text = [CChar](repeating: 0, count: 41)
        return zmq_z85_encode(&text, bytes, 32) == nil ? nil : Self.text(text)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Never includes the secret.
    package var description: String { "BusKeyPair(\(publicKey))" }
}

package enum BusKeyError: Error, CustomStringConvertible {
    case malformed, unsupported

    package var description: String {
        switch self {
        case .malformed: "isn't a key: it needs 40 characters of Z85, as 'healthbus keys init' writes them"
        case .unsupported: "this libzmq can't make keys: it was built without CURVE"
        }
    }
}

/// What a process shows to the hub, and how it recognizes that hub.
package struct BusCredentials: Sendable, Equatable {
    package var own: BusKeyPair
    /// The hub's public key.
    package var hub: String

    package init(own: BusKeyPair, hub: String) { (self.own, self.hub) = (own, hub) }
}

/// A process's identity on a sealed bus: its name there, and where its keys are. The keys are checked every second, so
/// that new ones are used without a restart.
package final class BusSeal: Sendable, Equatable {
    package let identity: String
    let credentials: @Sendable () throws -> BusCredentials

    package init(identity: String, credentials: @escaping @Sendable () throws -> BusCredentials) {
        (self.identity, self.credentials) = (identity, credentials)
    }

    package static func == (a: BusSeal, b: BusSeal) -> Bool { a === b }
}
