import HTTP
import HealthModel
import JSON
import Protocol

/// What a backend holds, and the outcomes of requests since its database was created.
struct BackendHoldings {
    struct Count {
        var alive: Int64 = 0
        var deleted: Int64 = 0
    }

    /// Samples by type, in type order; those of type "" are deletions whose sample never arrived.
    var types: [(type: String, count: Count)] = []
    var documents: [DocumentKind: Count] = [:]
    /// The outcomes of elements, as reported in answers, over all users.
    var counters: [String: Int64] = [:]
    /// nil if acceptances aren't counted.
    var acceptedTwice: Int64?

    /// `GET /api/v1/stats`.
    func answer(_ state: BackendState, serverTime: Instant) -> HTTPResponse {
        var out: [UInt8] = []
        out.append(json: "{")
        state.append(to: &out)
        out.append(json: ",\"serverTime\":")
        out.append(jsonDate: serverTime)
        out.append(json: ",\"types\":{")
        var samples = Count()
        for (index, (type, count)) in types.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(jsonString: type)
            out.append(count)
            samples.alive += count.alive
            samples.deleted += count.deleted
        }
        out.append(json: "},\"samples\"")
        out.append(samples)
        for kind in DocumentKind.allCases {
            out.append(json: ",\"")
            out.append(json: kind.plural)
            out.append(json: "\"")
            out.append(documents[kind] ?? Count())
        }
        out.append(json: ",\"counters\":{")
        for (index, name) in ["created", "updated", "known", "refused", "lost"].enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(jsonString: name)
            out.append(UInt8(ascii: ":"))
            out.append(json: counters[name] ?? 0)
        }
        out.append(json: "},\"acceptedTwice\":")
        if let acceptedTwice { out.append(json: acceptedTwice) } else { out.append(json: "null") }
        // The formats of a sync request's body.
        out.append(json: ",\"accepts\":[\"application/json\",")
        out.append(jsonString: SampleDelivery.contentType)
        out.append(json: "]}")
        // The answer has no tag, because it contains the time, and because a repeat changes the counters but not the
        // sequence.
        return HTTPResponse(status: 200, json: out, headers: ["Cache-Control": "no-store"])
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ count: BackendHoldings.Count) {
        append(json: ":{\"alive\":")
        append(json: count.alive)
        append(json: ",\"deleted\":")
        append(json: count.deleted)
        append(json: "}")
    }
}
