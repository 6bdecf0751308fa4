import HTTP
import HealthModel
import JSON

/// The outcome of each element of a request, collected as the answer's JSON.
struct SyncOutcome {
    enum Verdict {
        case created, updated, known
        /// Also known, but with different content under the same version.
        case conflict

        /// Whether a row was written.
        var writes: Bool { self == .created || self == .updated }
    }

    private(set) var created = 0
    private(set) var updated = 0
    /// Conflicts included.
    private(set) var known = 0
    private(set) var refused = 0

    /// Whether the answer lists each element that was stored, instead of only their number.
    private let listsIDs: Bool
    private var createdIDs: [UInt8] = []
    private var updatedIDs: [UInt8] = []
    private var knownIDs: [UInt8] = []
    private var held: [UInt8] = []
    private var conflicts: [UInt8] = []
    private var refusals: [UInt8] = []

    init(listsIDs: Bool = true) { self.listsIDs = listsIDs }

    var accepted: Int { created + updated + known }

    /// - Parameter heldVersion: the stored version, if it isn't the one sent.
    mutating func add(_ verdict: Verdict, _ id: JSONSpan, heldVersion: Int64? = nil) {
        count(verdict)
        switch verdict {
        case .created: Self.append(id, to: &createdIDs)
        case .updated: Self.append(id, to: &updatedIDs)
        case .known, .conflict:
            Self.append(id, to: &knownIDs)
            if verdict == .conflict { Self.append(id, to: &conflicts) }
            guard let heldVersion else { return }
            Self.append(id, to: &held)
            held.append(UInt8(ascii: ":"))
            held.append(json: heldVersion)
        }
    }

    mutating func count(_ verdict: Verdict, _ number: Int = 1) {
        switch verdict {
        case .created: created += number
        case .updated: updated += number
        case .known, .conflict: known += number
        }
    }

    /// Counts a known element, and lists its id even in an answer that omits the ids of stored elements.
    mutating func addConflict(_ id: SampleID) {
        count(.conflict)
        if !conflicts.isEmpty { conflicts.append(UInt8(ascii: ",")) }
        conflicts.append(jsonString: id.description)
    }

    /// - Parameter index: the element's position in its list, from 0, since it may have no id.
    mutating func refuse(_ id: JSONSpan?, _ list: SyncList, index: Int, _ reason: String) {
        var quoted: [UInt8] = []
        if let id, id.isString, id.bytes.count <= ElementID.limit { Self.append(id, to: &quoted) }
        refuse(quoted: quoted, list, index: index, reason)
    }

    mutating func refuse(_ id: SampleID, _ list: SyncList, index: Int, _ reason: String) {
        refuse(quoted: Array("\"\(id)\"".utf8), list, index: index, reason)
    }

    /// - Parameter quoted: the id as a JSON string; empty for none.
    private mutating func refuse(quoted: [UInt8], _ list: SyncList, index: Int, _ reason: String) {
        refused += 1
        if !refusals.isEmpty { refusals.append(UInt8(ascii: ",")) }
        refusals.append(json: "{\"id\":")
        if quoted.isEmpty { refusals.append(json: "null") } else { refusals.append(contentsOf: quoted) }
        refusals.append(json: ",\"list\":\"")
        refusals.append(json: list.name)
        refusals.append(json: "\",\"index\":")
        refusals.append(json: Int64(index))
        refusals.append(json: ",\"reason\":")
        refusals.append(jsonString: reason)
        refusals.append(json: "}")
    }

    /// 200 when anything was accepted or there was nothing to do; 422 when every element was refused.
    func answer(_ state: BackendState, serverTime: Instant) -> HTTPResponse {
        var out: [UInt8] = []
        out.reserveCapacity(
            512 + createdIDs.count + updatedIDs.count + knownIDs.count + held.count + conflicts.count + refusals.count)
        out.append(json: "{")
        state.append(to: &out)
        out.append(json: ",\"serverTime\":")
        out.append(jsonDate: serverTime)
        out.append(json: ",\"counts\":{\"created\":")
        out.append(json: Int64(created))
        out.append(json: ",\"updated\":")
        out.append(json: Int64(updated))
        out.append(json: ",\"known\":")
        out.append(json: Int64(known))
        out.append(json: ",\"refused\":")
        out.append(json: Int64(refused))
        out.append(json: "}")
        if listsIDs {
            out.append(json: ",\"created\":[")
            out.append(contentsOf: createdIDs)
            out.append(json: "],\"updated\":[")
            out.append(contentsOf: updatedIDs)
            out.append(json: "],\"known\":[")
            out.append(contentsOf: knownIDs)
            out.append(json: "],\"held\":{")
            out.append(contentsOf: held)
            out.append(json: "}")
        }
        if !conflicts.isEmpty {
            out.append(json: ",\"conflicts\":[")
            out.append(contentsOf: conflicts)
            out.append(json: "]")
        }
        out.append(json: ",\"refused\":[")
        out.append(contentsOf: refusals)
        out.append(json: "]}")
        return HTTPResponse(status: refused > 0 && accepted == 0 ? 422 : 200, json: out)
    }

    /// The id as it was sent; the span's text is already valid JSON between quotes.
    private static func append(_ id: JSONSpan, to list: inout [UInt8]) {
        if !list.isEmpty { list.append(UInt8(ascii: ",")) }
        list.append(UInt8(ascii: "\""))
        list.append(contentsOf: id.bytes)
        list.append(UInt8(ascii: "\""))
    }
}
