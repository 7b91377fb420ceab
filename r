{
 "untemplate": 2,
 "schema": {
  "name": "university",
  "attributes": {
   "name": {
    "mandatory": true,
    "constant": true,
    "same_as": [
     "og:title"
    ]
   },
   "phone": {
    "type": "phone",
    "same_as": [
     "telephone"
    ]
   },
   "website": {
    "type": "url",
    "same_as": [
     "url"
    ]
   },
   "type": {
    "constant": true
   }
  }
 },
 "wrappers": [
  {
   "cluster": "c1",
   "signatures": [
    "44.*.4d.8e.85.86.b1.*",
    "44.53.4d.8e.85.*.b1.*",
    "44.*.4d.8e.85.*.b1.6b",
    "44.*.4d.8e.85.25.b1.*",
    "44.*.4d.*.85.25.b1.d6",
    "44.05.4d.8e.*.*.b1.6b",
    "44.cf.4d.8e.85.c5.*.*",
    "*.*.4d.40.85.86.b1.6b",
    "*.*.4d.8e.ab.d5.b1.6b",
    "44.*.4d.40.85.*.b1.d6",
    "44.53.4d.*.85.25.b1.*",
    "44.*.4d.8e.85.86.*.41",
    "44.05.4d.8e.*.c5.b1.*"
   ],
   "importance": 30,
   "url_pattern": "http://www.zenguide2.example/*/restaurant/*.htm",
   "rules": {
    "name": {
     "selectors": [
      {
       "xpath": "/html/body/table/tr/td/center/div/div/div/div/div/div[@class=\"main_73uBY\"]/section/h1[@class=\"headline_hrJuq\"]/text()[normalize-space(translate(preceding::text()[normalize-space(translate(., \"                 　\", \"                   \"))!=\"\"][not(ancestor::iframe or ancestor::noembed or ancestor::noframes or ancestor::script or ancestor::style or ancestor::template)][contains($static, concat(\"␞\", count(ancestor::*) - 1, \" \", name(..), \" \", normalize-space(translate(., \"                 　\", \"                   \")), \"␞\"))][1], \"                 　\", \"                   \"))=\"Home\"]",
       "node": "text()",
       "support": 1.0,
       "features": [
        [
         "tag",
         1,
         "h1"
        ],
        [
         "tag",
         2,
         "section"
        ],
        [
         "tag",
         3,
         "div"
        ],
        [
         "tag",
         4,
         "div"
        ],
        [
         "tag",
         5,
         "div"
        ],
        [
         "tag",
         6,
         "div"
        ],
        [
         "tag",
         7,
         "div"
        ],
        [
         "tag",
         8,
         "div"
        ],
        [
         "tag",
         9,
         "center"
        ],
        [
         "tag",
         10,
         "td"
        ],
        [
         "tag",
         11,
         "tr"
        ],
        [
         "tag",
         12,
         "table"
        ],
        [
         "tag",
         13,
         "body"
        ],
        [
         "tag",
         14,
         "html"
        ],
        [
         "class",
         1,
         "headline_hrJuq"
        ],
        [
         "class",
         3,
         "main_73uBY"
        ],
        [
         "label",
         0,
         "Home"
        ]
       ]
      },
      {
       "xpath": "//*[@class=\"main_73uBY\"]/*/*[@class=\"headline_hrJuq\"]/text()[normalize-space(translate(preceding::text()[normalize-space(translate(., \"                 　\", \"                   \"))!=\"\"][not(ancestor::iframe or ancestor::noembed or ancestor::noframes or ancestor::script or ancestor::style or ancestor::template)][contains($static, concat(\"␞\", count(ancestor::*) - 1, \" \", name(..), \" \", normalize-space(translate(., \"                 　\", \"                   \")), \"␞\"))][1], \"                 　\", \"                   \"))=\"Home\"]",
       "node": "text()",
       "support": 1.0,
       "features": [
        [
         "class",
         1,
         "headline_hrJuq"
        ],
        [
         "class",
         3,
         "main_73uBY"
        ],
        [
         "label",
         0,
         "Home"
        ]
       ]
      },
      {
       "xpath": "/html/body/table/tr/td/center/div/div/div/div/div/div[@class=\"main_73uBY\"]/section/h1[@class=\"headline_hrJuq\"]/text()",
       "node": "text()",
       "support": 1.0,
       "features": [
        [
         "tag",
         1,
         "h1"
        ],
        [
         "tag",
         2,
         "section"
        ],
        [
         "tag",
         3,
         "div"
        ],
        [
         "tag",
         4,
         "div"
        ],
        [
         "tag",
         5,
         "div"
        ],
        [
         "tag",
         6,
         "div"
        ],
        [
         "tag",
         7,
         "div"
        ],
        [
         "tag",
         8,
         "div"
        ],
        [
         "tag",
         9,
         "center"
        ],
        [
         "tag",
         10,
         "td"
        ],
        [
         "tag",
         11,
         "tr"
        ],
        [
         "tag",
         12,
         "table"
        ],
        [
         "tag",
         13,
         "body"
        ],
        [
         "tag",
         14,
         "html"
        ],
        [
         "class",
         1,
         "headline_hrJuq"
        ],
        [
         "class",
         3,
         "main_73uBY"
        ]
       ]
      }
     ],
     "committee": [
      {
       "xpath": "//*[@class=\"headline_hrJuq\"]/text()",
       "node": "text()",
       "support": 1.0,
       "features": [
        [
         "class",
         1,
         "headline_hrJuq"
        ]
       ]
      },
      {
       "xpath": "//section/*/text()",
       "node": "text()",
       "support": 1.0,
       "features": [
        [
         "tag",
         2,
         "section"
        ]
       ]
      },
      {
       "xpath": "//*[preceding-sibling::*[1]/self::*[@class=\"crumbs_L7EjB\"]]/*/text()",
       "node": "text()",
       "support": 1.0,
       "features": [
        [
         "preceding-sibling-class-1",
         2,
         "crumbs_L7EjB"
        ]
       ]
      },
      {
       "xpath": "//*[@property=\"og:title\"][normalize-space(translate(preceding::text()[normalize-space(translate(., \"                 　\", \"                   \"))!=\"\"][not(ancestor::iframe or ancestor::noembed or ancestor::noframes or ancestor::script or ancestor::style or ancestor::template)][contains($static, concat(\"␞\", count(ancestor::*) - 1, \" \", name(..), \" \", normalize-space(translate(., \"                 　\", \"                   \")), \"␞\"))][1], \"                 　\", \"                   \"))=\"\"]/@content",
       "node": "@content",
       "support": 1.0,
       "features": [
        [
         "@property",
         1,
         "og:title"
        ],
        [
         "label",
         0,
         ""
        ]
       ]
      }
     ],
     "typed": true,
     "embedded": [
      {
       "path": "meta og:title",
       "support": 1.0,
       "source": "meta",
       "keys": [
        "og:title"
       ]
      }
     ]
    }
   },
   "static": [
    "10 a American (New) in Coeur d’Alene",
    "10 a American (New) in Portland",
    "10 a Barbecue in Atlanta",
    "10 a Barbecue in Savannah",
    "10 a Cajun & Creole in Austin",
    "10 a Cajun & Creole in Boston",
    "10 a Cajun & Creole in Philadelphia",
    "10 a Chinese in Chicago",
    "10 a Chinese in Las Vegas",
    "10 a Diner in Austin",
    "10 a Diner in Coeur d’Alene",
    "10 a Diner in New Orleans",
    "10 a Diner in Seattle",
    "10 a Ethiopian in Atlanta",
    "10 a Ethiopian in Austin",
    "10 a Ethiopian in Coeur d’Alene",
    "10 a Ethiopian in Las Vegas",
    "10 a Ethiopian in Seattle",
    "10 a Ethiopian in St. Paul",
    "10 a French in Coeur d’Alene",
    "10 a French in San Francisco",
    "10 a Greek in Austin",
    "10 a Greek in Denver",
    "10 a Greek in Las Vegas",
    "10 a Greek in San Francisco",
    "10 a Indian in Atlanta",
    "10 a Indian in Chicago",
    "10 a Italian in Austin",
    "10 a Italian in Boston",
    "10 a Italian in Las Vegas",
    "10 a Italian in New Orleans",
    "10 a Japanese in Austin",
    "10 a Japanese in Denver",
    "10 a Korean in Las Vegas",
    "10 a Mediterranean in Denver",
    "10 a Mediterranean in New York",
    "10 a Mediterranean in Portland",
    "10 a Mediterranean in San Francisco",
    "10 a Mexican in Coeur d’Alene",
    "10 a Mexican in Miami",
    "10 a Mexican in Seattle",
    "10 a Middle Eastern in Austin",
    "10 a Middle Eastern in Seattle",
    "10 a Peruvian in Atlanta",
    "10 a Peruvian in Savannah",
    "10 a Seafood in Austin",
    "10 a Seafood in Coeur d’Alene",
    "10 a Seafood in Miami",
    "10 a Seafood in Savannah",
    "10 a Soul Food in Boston",
    "10 a Spanish in Atlanta",
    "10 a Spanish in Denver",
    "10 a Spanish in Los Angeles",
    "10 a Steakhouse in Boston",
    "10 a Steakhouse in Chicago",
    "10 a Steakhouse in Philadelphia",
    "10 a Steakhouse in Seattle",
    "10 a Tapas in Denver",
    "10 a Thai in Boston",
    "10 a Thai in Philadelphia",
    "10 a Thai in Portland",
    "10 a Thai in San Francisco",
    "10 a Thai in Seattle",
    "10 a Thai in St. Paul",
    "10 a Vegetarian in Denver",
    "10 a Vegetarian in Las Vegas",
    "10 a Vegetarian in New Orleans",
    "10 a Vietnamese in Austin",
    "10 a Vietnamese in Coeur d’Alene",
    "10 a Vietnamese in Santa Fe",
    "11 a Blog",
    "11 a Browse",
    "11 a Cajun & Creole",
    "11 a Chinese",
    "11 a Community",
    "11 a Diner",
    "11 a Editors’ Picks",
    "11 a Forums",
    "11 a French",
    "11 a Gift Ideas",
    "11 a Help",
    "11 a Home",
    "11 a Italian",
    "11 a Mediterranean",
    "11 a Mexican",
    "11 a Near You",
    "11 a Peruvian",
    "11 a Steakhouse",
    "11 a Thai",
    "11 a Top Rated",
    "11 a Vegetarian",
    "11 a Vietnamese",
    "11 b Sponsored",
    "11 h3 Most popular",
    "12 a About Us",
    "12 a Accessibility",
    "12 a Advertise",
    "12 a Affiliates",
    "12 a Careers",
    "12 a Contact",
    "12 a Developers",
    "12 a Feedback",
    "12 a Privacy Policy",
    "12 a RSS",
    "12 a Terms of Use",
    "13 h3 Summary",
    "13 h3 You may also like",
    "14 a Home",
    "16 h3 Reviews",
    "9 b Sponsored",
    "9 h4 Popular searches",
    "9 p © 2011 ZenGuide2. All rights reserved. Call (800) 555-7582",
    "9 span ZenGuide2: the best restaurants on the web"
   ],
   "stops": [
    "<div class=\"subtitle_uRmSp\">"
   ],
   "bellwethers": [
    {
     "page": "0000.html",
     "url": "http://www.zenguide2.example/castellanos-cantina/restaurant/84760.htm",
     "signature": "44.cf.4d.8e.85.c5.b1.6b",
     "golden": {
      "name": [
       "Castellanos Cantina"
      ]
     },
     "unsure": []
    },
    {
     "page": "0001.html",
     "url": "http://www.zenguide2.example/riveras-chophouse/restaurant/84610.htm",
     "signature": "44.05.4d.8e.85.25.b1.52",
     "golden": {
      "name": [
       "Rivera’s Chophouse"
      ]
     },
     "unsure": []
    },
    {
     "page": "0002.html",
     "url": "http://www.zenguide2.example/the-blue-market-cafe/restaurant/84555.htm",
     "signature": "44.cf.4d.8e.85.c5.b1.52",
     "golden": {
      "name": [
       "The Blue Market Café"
      ]
     },
     "unsure": []
    },
    {
     "page": "0003.html",
     "url": "http://www.zenguide2.example/the-velvet-island-taqueria/restaurant/85096.htm",
     "signature": "f4.75.4d.40.85.86.b1.6b",
     "golden": {
      "name": [
       "The Velvet Island Taquería"
      ]
     },
     "unsure": []
    },
    {
     "page": "0004.html",
     "url": "http://www.zenguide2.example/the-silver-library-bar-grill/restaurant/85103.htm",
     "signature": "44.53.4d.8e.ab.d5.b1.6b",
     "golden": {
      "name": [
       "The Silver Library Bar & Grill"
      ]
     },
     "unsure": []
    },
    {
     "page": "0005.html",
     "url": "http://www.zenguide2.example/saint-exupery-cafe/restaurant/84629.htm",
     "signature": "44.53.4d.8e.85.86.b1.6b",
     "golden": {
      "name": [
       "Saint-Exupéry Café"
      ]
     },
     "unsure": []
    },
    {
     "page": "0007.html",
     "url": "http://www.zenguide2.example/miller-steak-house/restaurant/84817.htm",
     "signature": "44.05.4d.8e.85.86.b1.52",
     "golden": {
      "name": [
       "Miller Steak House"
      ]
     },
     "unsure": []
    },
    {
     "page": "0008.html",
     "url": "http://www.zenguide2.example/lindqvist-brasserie/restaurant/84864.htm",
     "signature": "44.98.4d.8e.85.86.b1.6b",
     "golden": {
      "name": [
       "Lindqvist Brasserie"
      ]
     },
     "unsure": []
    },
    {
     "page": "0009.html",
     "url": "http://www.zenguide2.example/the-summer-crown-grill/restaurant/84856.htm",
     "signature": "44.53.4d.8e.85.86.b1.6b",
     "golden": {
      "name": [
       "The Summer Crown Grill"
      ]
     },
     "unsure": []
    },
    {
     "page": "0010.html",
     "url": "http://www.zenguide2.example/the-last-journey-grill/restaurant/84517.htm",
     "signature": "44.05.4d.40.85.25.b1.d6",
     "golden": {
      "name": [
       "The Last Journey Grill"
      ]
     },
     "unsure": []
    },
    {
     "page": "0011.html",
     "url": "http://www.zenguide2.example/dangelo-brasserie/restaurant/85050.htm",
     "signature": "44.53.4d.8e.85.25.b1.d6",
     "golden": {
      "name": [
       "D’Angelo Brasserie"
      ]
     },
     "unsure": []
    },
    {
     "page": "0012.html",
     "url": "http://www.zenguide2.example/the-frozen-tower-pizzeria/restaurant/84738.htm",
     "signature": "44.cf.4d.8e.85.c5.a6.d6",
     "golden": {
      "name": [
       "The Frozen Tower Pizzeria"
      ]
     },
     "unsure": []
    },
    {
     "page": "0013.html",
     "url": "http://www.zenguide2.example/the-endless-library-steak-house/restaurant/85014.htm",
     "signature": "f4.75.4d.8e.ab.d5.b1.6b",
     "golden": {
      "name": [
       "The Endless Library Steak House"
      ]
     },
     "unsure": []
    },
    {
     "page": "0014.html",
     "url": "http://www.zenguide2.example/king-grill/restaurant/84960.htm",
     "signature": "44.53.4d.8e.85.86.b1.d6",
     "golden": {
      "name": [
       "King Grill"
      ]
     },
     "unsure": []
    },
    {
     "page": "0015.html",
     "url": "http://www.zenguide2.example/castellanoss-diner/restaurant/84652.htm",
     "signature": "44.05.4d.8e.ab.d5.b1.6b",
     "golden": {
      "name": [
       "Castellanos’s Diner"
      ]
     },
     "unsure": []
    },
    {
     "page": "0017.html",
     "url": "http://www.zenguide2.example/martinezs-diner/restaurant/84976.htm",
     "signature": "44.98.4d.8e.85.86.b1.6b",
     "golden": {
      "name": [
       "Martínez’s Diner"
      ]
     },
     "unsure": []
    },
    {
     "page": "0019.html",
     "url": "http://www.zenguide2.example/the-silver-summer-kitchen/restaurant/84460.htm",
     "signature": "44.f1.4d.40.85.c5.b1.d6",
     "golden": {
      "name": [
       "The Silver Summer Kitchen"
      ]
     },
     "unsure": []
    },
    {
     "page": "0021.html",
     "url": "http://www.zenguide2.example/the-gentle-tower-steak-house/restaurant/84632.htm",
     "signature": "44.53.4d.8e.85.25.b1.52",
     "golden": {
      "name": [
       "The Gentle Tower Steak House"
      ]
     },
     "unsure": []
    },
    {
     "page": "0022.html",
     "url": "http://www.zenguide2.example/kowalski-diner/restaurant/84918.htm",
     "signature": "44.53.4d.8e.85.86.b1.6b",
     "golden": {
      "name": [
       "Kowalski Diner"
      ]
     },
     "unsure": []
    },
    {
     "page": "0023.html",
     "url": "http://www.zenguide2.example/garcias-steak-house/restaurant/84786.htm",
     "signature": "44.be.4d.8e.85.86.a6.41",
     "golden": {
      "name": [
       "Garcia’s Steak House"
      ]
     },
     "unsure": []
    }
   ],
   "profiles": {
    "name": {
     "agreement": 0.99,
     "labels": [
      "Home"
     ],
     "names": [
      "by",
      "headline",
      "hr",
      "juq",
      "main"
     ]
    }
   },
   "lost": []
  },
  {
   "cluster": "c2",
   "signatures": [
    "*.be.9a.*.f0.82.8e.ea",
    "3f.be.9a.8e.*.*.8e.ea"
   ],
   "importance": 5,
   "url_pattern": "http://www.zenguide2.example/browse/restaurants.html?page=*",
   "rules": {},
   "static": [],
   "stops": [],
   "bellwethers": [],
   "profiles": {},
   "lost": []
  },
  {
   "cluster": "c3",
   "signatures": [
    "*.*.d5.40.7a.f0.4e.ea"
   ],
   "importance": 1,
   "url_pattern": "http://www.zenguide2.example*",
   "rules": {},
   "static": [],
   "stops": [],
   "bellwethers": [],
   "profiles": {},
   "lost": []
  }
 ]
}
