import HealthModel
import JSON

/// A way in: what one sender pushes, and all that the rest must know about it. The ingest, the observer, the quarantine,
/// the pairing of phones and the tests of the documentation ask it.
///
/// Each is declared in the folder of its format, and listed in `all`.
package struct WayIn: Sendable {
    /// Where it is sent; `{…}` stands for a component of any text. It also names the way on the bus and in the store, so
    /// it never changes.
    package let path: String
    /// The media types that it may have, in lower case; the first is assumed if a request names none.
    package let types: [String]
    package private(set) var proof = Proof.bearer
    /// The maximum number of items in one request: many tiny items would take a hundred times the body's size in memory.
    package private(set) var items: Int64 = 250_000
    package private(set) var precision = Precision()
    /// The members of an item that may say what it is a sample of, the first one first: the quarantine lists an item by
    /// it.
    package private(set) var names = ["type"]
    /// The members of its bodies, which are JSON objects: another way refuses a body that has only these, and names this
    /// way's path.
    package private(set) var members: Set<String> = []
    /// The status of the answer when its items are stored; senders may expect their own backend's.
    package private(set) var status = 200
    /// nil for a way that no app is set up for.
    package private(set) var pairing: (any AppPairing.Type)?
    /// Members that the app expects in the answer to a request that was accepted, besides those of every answer; nil if
    /// it expects none.
    package private(set) var reply: (@Sendable (_ items: Int64, _ known: Int64) -> [String: Value])?
    let read: @Sendable (PushRequest) throws(PushError) -> PushedChanges
    /// Reads one quarantined item again; nil if it isn't an item of this way at all.
    let reread: @Sendable (_ raw: String) -> PushedChanges?
    /// Whether an item from an imported file is one of this way's; other files' items are XML.
    var isItemOfFile: @Sendable (_ raw: String) -> Bool = { _ in false }

    /// How a request proves who sends it.
    package enum Proof: Sendable, Equatable {
        /// `Authorization: Bearer` with a token, which is for one person's device.
        case bearer
        /// The path's variable component names the phone, and a header has the HMAC-SHA256 of the body with that phone's
        /// secret, in hexadecimal.
        case signature(header: String, prefix: String)
    }

    /// How exact values and times are, where the store must make up for what is lacking.
    package struct Precision: Sendable {
        /// Whether times have an offset but no zone, so that sums of days are of 24 hours until the person's zone is
        /// known (`RecordBatch.endDays`).
        package var lacksZone = false
        /// Whether resting energy is sent only within a total of both kinds.
        package var hidesResting = false
    }

    package static let all = [
        samples, healthAutoExport, lifeDashboard, openWearables, lines, freeReps, healthykit,
    ]

    /// An app that sends by one of the ways.
    package struct App: Sendable {
        /// What `healthbus pair --app` calls it.
        package let name: String
        package let proof: Proof
        package let pairing: any AppPairing.Type

        /// Whether the person enters a code, for which the app gets its tokens.
        package var isInvited: Bool { pairing.isInvited }
    }

    package static let apps: [App] = all.compactMap { way in
        way.pairing.map { pairing in
            let name = pairing.name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
            return App(name: name, proof: way.proof, pairing: pairing)
        }
    }

    /// - Parameter path: as declared; nil and other texts belong to no way.
    package static func named(_ path: String?) -> WayIn? { all.first { $0.path == path } }

    /// The way of an item in quarantine; nil for one from an export.
    /// - Parameter source: the way's path, or the file that the item is from.
    package static func of(item raw: String, from source: String) -> WayIn? {
        named(source) ?? all.first { $0.isItemOfFile(raw) }
    }

    /// Decodes a request.
    /// - Parameters:
    ///   - type: one of `types`.
    ///   - now: when it was received.
    ///   - header: the value of a header, by its name in any letter case.
    /// - Throws: `PushError` if it can't be accepted as a whole, or has more than `items`.
    package func changes(
        in body: [UInt8], type: String, now: Instant,
        header: @escaping @Sendable (_ name: String) -> String? = { _ in nil }
    ) throws(PushError) -> PushedChanges {
        let request = PushRequest(body: body, type: type, now: now, header: header, items: items)
        let changes: PushedChanges
        do throws(PushError) { changes = try read(request) } catch { throw misdirection(of: body) ?? error }
        guard changes.items <= items else {
            throw PushError("the body has more than \(items) items", isTooLarge: true)
        }
        if !changes.quarantined.isEmpty, let error = misdirection(of: body) { throw error }
        return changes
    }

    /// The error for a body that is meant for another way; nil if it may be meant for this one. Ways may share members:
    /// the one with the fewest counts.
    private func misdirection(of body: [UInt8]) -> PushError? {
        guard let names = Self.members(of: body) else { return nil }
        let ways = Self.all.filter { names.isSubset(of: $0.members) }
        let least = ways.map(\.members.count).min()
        guard let fitting = ways.first(where: { $0.members.count == least }), members != fitting.members else {
            return nil
        }
        return PushError("the body is of the form that POST \(fitting.path) takes")
    }

    /// The names of an object's members; nil for anything that isn't an object, or is an empty one.
    private static func members(of body: [UInt8]) -> Set<String>? {
        guard JSONScanner.isUTF8(body) else { return nil }
        return body.withUnsafeBytes { text -> Set<String>? in
            var names: Set<String> = []
            do throws(JSONScanError) {
                var scanner = JSONScanner(text)
                try scanner.beginObject()
                while let name = try scanner.nextMember() {
                    names.insert(name.text ?? "")
                    _ = try scanner.value()
                }
                try scanner.end()
            } catch {
                // It is no way's, and the reader has said why.
                return nil
            }
            return names.isEmpty ? nil : names
        }
    }

    /// The samples of a quarantined item, under today's rules; nil if it still isn't understood. An item that was too
    /// long has been cut, and can never be understood.
    package func records(in raw: String) -> RecordBatch? {
        guard let changes = reread(raw), changes.quarantined.isEmpty, changes.records.count > 0 else { return nil }
        return changes.records
    }
}

/// A request as a way in reads it: see `WayIn.changes`.
struct PushRequest {
    let body: [UInt8]
    let type: String
    let now: Instant
    let header: @Sendable (_ name: String) -> String?
    /// Items beyond this many needn't be kept, only counted.
    let items: Int64
}

/// A phone that is let in, as its app must know it.
package struct PairedPhone: Sendable {
    /// The URL at which the phone reaches the stack, without a trailing slash.
    let address: String
    /// Its token's id, which isn't secret.
    let id: String
    /// Its token, or the code for which its app gets tokens.
    let token: String

    package init(address: String, id: String, token: String) {
        (self.address, self.id, self.token) = (address, id, token)
    }
}

/// How a person sets up an app to send here.
package protocol AppPairing: Sendable {
    /// Its member of `healthbus pair --json`; `healthbus pair --app` takes it with hyphens.
    static var name: String { get }
    /// Whether the person enters a code instead of a token.
    static var isInvited: Bool { get }
    init(_ phone: PairedPhone)
    /// For programs.
    var value: Value { get }
    /// The steps, for people.
    /// - Parameter code: draws a link as a code for a camera; returns nil to leave it out.
    func text(code: (String) -> String?) -> String
}

extension AppPairing {
    package static var isInvited: Bool { false }
}
