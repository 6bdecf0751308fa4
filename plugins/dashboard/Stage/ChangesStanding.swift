import Client
import HTTP
import HealthModel
import Protocol

/// The store's state, and what has changed besides samples: zones, and what is known about people.
struct ChangesStanding: Sendable {
    let head: StoreHead
    let beside: SpansPage

    /// Asks the observer.
    /// - Parameter since: what was there before it needn't be told again; more may be.
    /// - Throws: `silent`, and what the observer refuses.
    init(_ client: StackClient, _ observer: String, since: ChangesCursor?) throws {
        func ask(_ place: PullPlace) throws -> Page<SpansPage>? {
            let pages: [Page<SpansPage>]? = try client.ask(observer, .spans(.only([])), place, within: 10)
            guard let pages else { throw Self.silent }
            return pages.first
        }
        var page: Page<SpansPage>?
        // A store continues from a place only if it knows that the place is its own; a visitor's cursor says whatever
        // the visitor likes, so only the observer's own word is passed on as such.
        if let since, let head = client.heartbeats[observer]?.beat.head, let known = since.place(in: head) {
            page = try ask(known)
        }
        if page == nil { page = try ask(PullPlace(of: nil, after: .beginning)) }
        guard let page, let head = page.head else { throw Self.silent }
        (self.head, beside) = (head, page.content)
    }

    static let silent = DashboardProblem(
        503, "the observer doesn't answer", hint: "ask again in a moment", headers: ["Retry-After": "2"])
}
