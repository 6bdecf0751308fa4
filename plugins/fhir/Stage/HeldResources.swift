import DeliveryKit
import HTTP
import HealthModel
import HealthResources

/// What a server's search reveals about the resources that it has of ours. Pure.
///
/// Searching for identifiers by their system alone (`identifier=urn:x-healthbus:sample|`) is part of FHIR's basic search;
/// searching for a `subject` by identifier isn't supported widely. So everybody's resources of a list are read, and those
/// of other people are left out here.
struct HeldResources {
    /// The identifiers of the resources: their system, and the beginning of their values.
    let system: String
    let prefix: String

    init(of question: HeldQuestion, _ form: FHIRForm) {
        let observations = Observations(of: form.patients.identifier(of: question.user))
        let own = observations.identifier(Self.kind(of: question.list), "")
        (system, prefix) = (own.system, own.value)
    }

    private static func kind(of list: HeldList) -> Observations.Kind {
        switch list {
        case .samples: .sample
        case .workouts: .workout
        case .nights: .night
        case .days: .day
        }
    }

    /// A larger page may take a server longer than it allows itself.
    private static let pageRows = 500

    func query(_ question: HeldQuestion) -> [String: String] {
        ["identifier": system + "|", "_count": "\(min(question.limit, Self.pageRows))"]
    }

    /// - Parameters:
    ///   - cursor: the path and query that was requested; nil for the first page.
    ///   - url: the same, with the server.
    func reply(_ response: HTTPResponse, to cursor: String?, url: String) -> HeldReply {
        let status = response.status
        switch status {
        case 200: break
        case 401, 403: return .refusesToken("the server answered \(status); \(FHIRAnswer.unauthorized.remedy)")
        case 408, 425, 429, 500, 502...504:
            return .later(
                "the server answered \(status)", response.headers["Retry-After"].flatMap { RetryAfter.wait($0) })
        case 404 where cursor != nil, 410 where cursor != nil:
            return .later("the server no longer knows the next page of its answer (it said \(status))")
        default: return Self.unable("it answered \(status) to a search for identifiers")
        }
        guard let bundle = FHIRAnswer.json(response.body), bundle["resourceType"] == "Bundle",
            bundle["type"] == "searchset"
        else { return Self.unable("its answer to a search for identifiers isn't a bundle of search results") }
        let resources = (bundle["entry"].array ?? []).map { $0["resource"] }
        if resources.contains(where: { FHIROutcome(answer: $0)?.isError == true }) {
            return Self.unable("it reports an error in its search results")
        }
        let links = bundle["link"].array ?? []
        var page = HeldPage(rows: resources.compactMap(row), isOrdered: false)
        if let next = links.first(where: { $0["relation"] == "next" })?["url"].string {
            guard case .sameOrigin(let path) = HTTPRedirect(location: next, from: url) else {
                return Self.unable("the next page of its search results is at another address than 'server'")
            }
            guard path != cursor else { return Self.unable("the next page of its search results is the same page") }
            page.next = path
        }
        return .page(page)
    }

    /// nil for a resource of somebody else, or of another kind.
    private func row(_ resource: Value) -> HeldPage.Row? {
        guard resource["resourceType"] == "Observation",
            let value = resource["identifier"].array?.first(where: { $0["system"].string == system })?["value"].string,
            value.hasPrefix(prefix),
            // Our ids have no slash, but another person's name may continue this one's with one.
            case let id = value.dropFirst(prefix.count), !id.contains("/")
        else { return nil }
        return HeldPage.Row(
            named: String(id),
            held: HeldVersion(version: nil, isDeleted: false, content: ResourceNumber.of(resource)))
    }

    static func unable(_ why: String) -> HeldReply {
        .unable("the server's search can't show what it holds: \(why)")
    }
}
