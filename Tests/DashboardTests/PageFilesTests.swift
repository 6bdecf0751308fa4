import DashboardStage
import Foundation
import HTTP
import TestSupport
import Testing

@Suite struct PageFilesTests {
    private let folder: TemporaryFolder
    private let files: PageFiles

    init() throws {
        folder = try TemporaryFolder()
        let page = folder.path + "/page"
        for path in ["/page/views", "/elsewhere"] {
            try FileManager.default.createDirectory(atPath: folder.path + path, withIntermediateDirectories: true)
        }
        for (name, text) in [
            ("page/index.html", "<p>here"), ("page/views/day.js", "export {}"), ("page/.hidden.js", "no"),
            ("plugin.json", "{}"), ("elsewhere/secret.js", "secret"), ("page/data.sqlite", "no"), ("chart.js", "chart"),
        ] {
            try text.write(toFile: folder.path + "/" + name, atomically: true, encoding: .utf8)
        }
        try FileManager.default.createSymbolicLink(
            atPath: page + "/link.js", withDestinationPath: folder.path + "/elsewhere/secret.js")
        files = PageFiles(root: page, others: ["/lib/chart.js": folder.path + "/chart.js"])
    }

    private func get(_ path: String, _ headers: HTTPHeaders = [:]) -> HTTPResponse? {
        files.answer(HTTPRequest(path: path, headers: headers))
    }

    @Test func filesAreServedAsWhatTheyAre() throws {
        let index = try #require(get("/"))
        #expect(index.text == "<p>here" && index.headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(get("/views/day.js")?.headers["Content-Type"] == "text/javascript; charset=utf-8")
        #expect(get("/lib/chart.js")?.text == "chart")
        let tag = try #require(index.headers["ETag"])
        let again = get("/", ["If-None-Match": tag])
        #expect(again?.status == 304 && again?.body == [])
        try "<p>other text".write(toFile: folder.path + "/page/index.html", atomically: true, encoding: .utf8)
        #expect(get("/", ["If-None-Match": tag])?.text == "<p>other text")
    }

    @Test(arguments: [
        "/../plugin.json", "/views/../../plugin.json", "/link.js", "/.hidden.js", "/views", "/views/", "//index.html",
        "/data.sqlite", "/missing.js", "", "index.html", "/views/./day.js", "/a\u{0}.js", "/lib/other.js",
    ])
    func nothingElseIs(_ path: String) {
        #expect(get(path) == nil)
    }
}
