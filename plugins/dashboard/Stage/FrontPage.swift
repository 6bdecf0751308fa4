import HTTP

/// What a browser gets at `/`: the page or, unless it may read, one that says how to sign in.
package enum FrontPage {
    /// The file for browsers that may not read. It contains the page's script too, which shows the page after all if
    /// the browser turns out to be signed in, and otherwise takes a token.
    package static let signIn = "/signin.html"

    /// - Throws: `DashboardProblem` for an invalid token, and when there is no such file.
    package static func answer(_ request: HTTPRequest, _ door: FrontDoor, _ files: PageFiles) throws -> HTTPResponse {
        let cookie = door.cookie(forTicketOf: request)
        // After a link on another site, a browser sends no cookie (`SameSite=Strict`): the page itself finds out.
        let isUnknown = request.headers["Sec-Fetch-Site"] == "cross-site" && request.query["ticket"] == nil
        let mayRead = try cookie != nil || isUnknown || door.visitor(request).mayRead
        var wanted = request
        if !mayRead { wanted.path = signIn }
        if cookie != nil || !mayRead { wanted.headers["If-None-Match"] = nil }
        guard var answer = files.answer(wanted) else { throw DashboardProblem.notFound }
        if let cookie {
            answer.headers.add("Set-Cookie", cookie)
        } else if !mayRead {
            answer.status = 401
            answer.headers["Cache-Control"] = "no-store"
            answer.headers.add("WWW-Authenticate", "Bearer")
        }
        return answer
    }
}
