import Foundation
import HTTP
import HealthModel

/// A FHIR R4 server in memory, as far as the plugin asks one: transactions, searches by identifier, and deletions.
///
/// Its counterpart is Tests/FHIR/server.py: `FHIRServerModelTests` has both answer the same requests.
struct FHIRServerModel {
    struct Key: Hashable {
        var type: String
        var identifier: Identifier
    }

    struct Identifier: Hashable {
        var system: String
        var value: String
    }

    struct Resource {
        var id: String
        /// Rises when the content changes.
        var version: Int64
        var content: Value
    }

    /// Why a whole request is refused, with the code of an `OperationOutcome`.
    private struct Refusal: Error {
        var status: Int
        var code: String

        init(_ status: Int, _ code: String) { (self.status, self.code) = (status, code) }
    }

    /// A server that is given a transaction again while it is still at work may make several resources with one
    /// identifier: then all but the first are twins.
    private(set) var held: [Key: [Resource]] = [:]
    /// How many resources got an id here.
    private var made = 0
    private let base: String
    private let token: String

    /// The most that a page of search results has.
    private static let page = 50

    /// - Parameter base: the path of its base URL.
    init(base: String, token: String) { (self.base, self.token) = (base, token) }

    /// The same without twins.
    var withoutTwins: Self {
        var server = self
        server.held = held.mapValues { Array($0.prefix(1)) }
        return server
    }

    /// The entries of a transaction that are about observations; empty for any other request.
    static func entries(of request: HTTPRequest) -> [Value] {
        (json(request.body)?["entry"].array ?? []).filter { $0["request"]["method"] != "POST" }
    }

    /// nil for what isn't JSON, which a server doesn't understand either.
    private static func json(_ body: [UInt8]) -> Value? { try? Value(json: body) }

    /// - Parameter doubles: how many of the resources that a transaction creates by identifier are there twice
    ///   afterwards.
    mutating func answer(_ request: HTTPRequest, doubles: Int = 0) -> HTTPResponse {
        do throws(Refusal) {
            if request.method == "GET", request.path == base + "/metadata" { return Self.response(Self.metadata) }
            guard request.bearerToken == token else { throw Refusal(401, "login") }
            switch (request.method, request.path) {
            case ("POST", base) where request.headers["Content-Type"] == "application/fhir+json":
                let entries: [Value] = try transaction(request.body, doubles: doubles).map {
                    ["response": ["status": .string($0)]]
                }
                return Self.response([
                    "resourceType": "Bundle", "type": "transaction-response", "entry": .array(entries),
                ])
            case ("GET", base + "/Observation"): return Self.response(try search(request))
            case ("DELETE", let path) where path.hasPrefix(base + "/Observation/"):
                delete(id: String(path.dropFirst((base + "/Observation/").count)))
                return HTTPResponse(status: 204)
            default: throw Refusal(404, "not-found")
            }
        } catch {
            return Self.outcome(error.status, error.code)
        }
    }

    private static let metadata: Value = [
        "resourceType": "CapabilityStatement", "fhirVersion": "4.0.1", "status": "active", "kind": "instance",
        "date": "2025-03-30", "format": ["json"],
    ]

    static func outcome(_ status: Int, _ code: String) -> HTTPResponse {
        response(
            ["resourceType": "OperationOutcome", "issue": [["severity": "error", "code": .string(code)]]],
            status: status)
    }

    private static func response(_ value: Value, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: ["Content-Type": "application/fhir+json"], body: Array(value.json().utf8))
    }

    // MARK: Transactions

    /// All or nothing.
    /// - Returns: the status of each entry.
    private mutating func transaction(_ body: [UInt8], doubles: Int) throws(Refusal) -> [String] {
        guard let bundle = Self.json(body), bundle["resourceType"] == "Bundle", bundle["type"] == "transaction",
            let entries = bundle["entry"].array, !entries.isEmpty
        else { throw Refusal(400, "invalid") }
        var new = self
        var (statuses, seen, patients, doubles) = ([String](), Set<Key>(), [String: String](), doubles)
        for entry in entries {
            if entry["request"]["method"] == "POST" {
                let (status, reference) = try new.createPatient(entry)
                patients[entry["fullUrl"].string ?? ""] = reference
                statuses.append(status)
            } else {
                statuses.append(try new.change(entry, patients, &seen, &doubles))
            }
        }
        self = new
        return statuses
    }

    /// Creates a patient unless there is one with that identifier.
    private mutating func createPatient(_ entry: Value) throws(Refusal) -> (status: String, reference: String) {
        let query = try parameters(entry["request"]["ifNoneExist"].string ?? "", ["identifier"])
        let key = Key(type: "Patient", identifier: try identifier(query["identifier"] ?? ""))
        if let known = held[key]?.first { return ("200 OK", "Patient/" + known.id) }
        made += 1
        held[key] = [Resource(id: "\(made)", version: 1, content: entry["resource"])]
        return ("201 Created", "Patient/\(made)")
    }

    /// Updates, creates or deletes an observation, by identifier or by id.
    private mutating func change(
        _ entry: Value, _ patients: [String: String], _ seen: inout Set<Key>, _ doubles: inout Int
    ) throws(Refusal) -> String {
        let (url, resource) = (entry["request"]["url"].string ?? "", entry["resource"])
        let isDeletion = entry["request"]["method"] == "DELETE"
        let id = url.hasPrefix("Observation/") ? String(url.dropFirst("Observation/".count)) : nil
        let key: Key
        if let id, isDeletion {
            guard let found = self.key(ofID: id) else { return "204 No Content" }
            key = found
        } else if let id {
            key = Key(type: "Observation", identifier: Self.identifiers(of: resource).first ?? .init("", ""))
            guard resource["id"].string == id, held[key].map({ $0[0].id == id }) ?? true else {
                throw Refusal(400, "invalid")
            }
        } else {
            guard url.hasPrefix("Observation?") else { throw Refusal(400, "duplicate") }
            let query = try parameters(String(url.dropFirst("Observation?".count)), ["identifier"])
            key = Key(type: "Observation", identifier: try identifier(query["identifier"] ?? ""))
        }
        guard seen.insert(key).inserted else { throw Refusal(400, "duplicate") }
        guard id != nil || held[key]?.count ?? 0 < 2 else { throw Refusal(412, "multiple-matches") }
        if isDeletion {
            guard resource.isNull else { throw Refusal(400, "invalid") }
            held[key] = nil
            return "204 No Content"
        }
        let content = try checked(resource, key, patients)
        if let old = held[key]?.first {
            if old.content != content {
                held[key] = [Resource(id: old.id, version: old.version + 1, content: content)]
            }
            return "200 OK"
        }
        if id == nil { made += 1 }
        let new = Resource(id: id ?? "\(made)", version: 1, content: content)
        held[key] = [new]
        if id == nil, doubles > 0 {
            doubles -= 1
            held[key]?.append(Resource(id: "twin-" + new.id, version: 1, content: content))
        }
        return "201 Created"
    }

    /// The resource as it is stored, with references to the transaction's patient replaced.
    private func checked(_ resource: Value, _ key: Key, _ patients: [String: String]) throws(Refusal) -> Value {
        guard resource["resourceType"].string == key.type, Self.identifiers(of: resource).contains(key.identifier),
            !resource["code"].isNull, !resource["status"].isNull, var members = resource.object
        else { throw Refusal(422, "required") }
        guard let reference = resource["subject"]["reference"].string else { return resource }
        guard let patient = patients[reference] else { throw Refusal(400, "not-found") }
        var subject = resource["subject"].object ?? [:]
        subject["reference"] = .string(patient)
        members["subject"] = .object(subject)
        return .object(members)
    }

    private static func identifiers(of resource: Value) -> [Identifier] {
        (resource["identifier"].array ?? []).map { Identifier($0["system"].string ?? "", $0["value"].string ?? "") }
    }

    private func key(ofID id: String) -> Key? {
        held.first { $0.key.type == "Observation" && $0.value.contains { $0.id == id } }?.key
    }

    /// Of several resources with one identifier, the others stay.
    private mutating func delete(id: String) {
        guard let key = key(ofID: id) else { return }
        held[key]?.removeAll { $0.id == id }
        if held[key]?.isEmpty == true { held[key] = nil }
    }

    // MARK: Searches

    /// A page of the observations that a search finds, in the order of their ids. An identifier without a value stands
    /// for all of its system.
    private func search(_ request: HTTPRequest) throws(Refusal) -> Value {
        let allowed = ["identifier", "_count", "_after"]
        let query =
            try request.encodedQuery.map { text throws(Refusal) in try parameters(text, allowed) } ?? request.query
        guard query.keys.allSatisfy(allowed.contains) else { throw Refusal(400, "invalid") }
        let wanted = try query["identifier"].map { text throws(Refusal) in try identifier(text) }
        guard let asked = Int(query["_count"] ?? "\(Self.page)"), asked >= 0 else { throw Refusal(400, "invalid") }
        let count = max(1, min(asked, Self.page))
        let found = held.filter { key, _ in
            key.type == "Observation" && wanted.map { $0.system == key.identifier.system } ?? true
                && wanted.map { $0.value.isEmpty || $0.value == key.identifier.value } ?? true
        }.values.flatMap { $0 }.sorted { $0.id < $1.id }
        let rows = found.filter { $0.id > query["_after"] ?? "" }
        var bundle: [String: Value] = [
            "resourceType": "Bundle", "type": "searchset", "total": .integer(Int64(found.count)),
        ]
        if !rows.isEmpty {
            bundle["entry"] = .array(
                rows.prefix(count).map { row in
                    var members = row.content.object ?? [:]
                    members["id"] = .string(row.id)
                    return ["resource": .object(members), "search": ["mode": "match"]]
                })
        }
        if rows.count > count {
            let own = query["identifier"]?.addingPercentEncoding(withAllowedCharacters: Self.unreserved)
            let next = (own.map { "identifier=\($0)&" } ?? "") + "_count=\(count)&_after=\(rows[count - 1].id)"
            bundle["link"] = [["relation": "next", "url": .string("?" + next)]]
        }
        return .object(bundle)
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// A query's parameters, each of which may be there once.
    private func parameters(_ query: String, _ allowed: [String]) throws(Refusal) -> [String: String] {
        var found: [String: String] = [:]
        for part in query.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard sides.count == 2, allowed.contains(sides[0]), let value = sides[1].removingPercentEncoding,
                found.updateValue(value, forKey: sides[0]) == nil
            else { throw Refusal(400, "invalid") }
        }
        return found
    }

    /// `system|value`, in which FHIR escapes some characters.
    private func identifier(_ text: String) throws(Refusal) -> Identifier {
        var parts = [""]
        var isEscaped = false
        for character in text {
            if character == "|", !isEscaped {
                parts.append("")
            } else if character != "\\" || isEscaped {
                parts[parts.count - 1].append(character)
            }
            isEscaped = character == "\\" && !isEscaped
        }
        guard parts.count == 2 else { throw Refusal(400, "invalid") }
        return Identifier(parts[0], parts[1])
    }
}

extension FHIRServerModel.Identifier {
    init(_ system: String, _ value: String) { (self.system, self.value) = (system, value) }
}
