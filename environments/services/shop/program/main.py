"""A web shop: catalogue, search, cart and checkout. Money is whole cents inside."""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from httpkit import Problem, Reply, Request, json_reply, see
from seeding import SeedError
from servicekit import Route, found_in, known, main, words_of
from sitekit import Site, area, at, choice, field, form, h, link, table, text_block

REVIEW = {"author": "text!", "stars": "int", "text": "text"}
PRODUCT = {
    "id": "text!",
    "name": "text",
    "price": "any",
    "category": "text",
    "description": "text",
    "stock": "int",
    "attributes": "object",
    "reviews": [REVIEW],
}
SHIPPING = {"id": "text!", "name": "text", "price": "any", "free_from": "any"}
COUPON = {"code": "text!", "percent": "int", "amount": "any", "min_total": "any"}
MAX_QUANTITY = 99
ADDRESS = ("name", "email", "address", "city", "postcode", "country")
SORTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "price": lambda p: (p["price_cents"], p["id"]),
    "-price": lambda p: (-p["price_cents"], p["id"]),
    "name": lambda p: (p["name"].casefold(), p["id"]),
    "rating": lambda p: (-(stars_of(p) or 0), p["id"]),
}
_ID = re.compile(r"[\w][\w.-]{0,79}")


def cents(value: Any, name: str) -> int:
    """Whole cents of a price such as "19.90".

    Raises:
        Problem: it is none.
    """
    try:
        number = Decimal(str(value)) * 100
    except InvalidOperation as error:
        raise Problem(400, f"{name}: expected a price like 19.90") from error
    if not number.is_finite() or not 0 <= number < 10**11 or number != int(number):
        raise Problem(400, f"{name}: expected a price like 19.90")
    return int(number)


def stars_of(product: dict[str, Any]) -> float | None:
    """The mean of a product's reviews."""
    reviews = product["reviews"]
    return round(sum(r["stars"] for r in reviews) / len(reviews), 1) if reviews else None


class Shop(Site):
    """The shop as one customer sees it."""

    name = "shop"
    port = 8031
    schema = {
        **Site.site_fields,
        "currency": "text",
        "user": {"name": "text", "email": "text"},
        "categories": [{"id": "text!", "name": "text"}],
        "products": [PRODUCT],
        "shipping": [SHIPPING],
        "coupons": [COUPON],
        "payments": "texts",
    }
    verbs = {
        "product": PRODUCT,
        "remove_product": {"id": "text!"},
        "review": {"product": "text!", **REVIEW},
        "order": {"id": "text!", "status": "text!"},
    }
    labels = {
        "site": ("Shop", "商店"),
        "cart": ("Cart", "购物车"),
        "orders": ("Orders", "订单"),
        "order": ("Order {}", "订单 {}"),
        "product": ("Product", "商品"),
        "price": ("Price", "价格"),
        "stock": ("{} in stock", "库存 {} 件"),
        "sold_out": ("sold out", "缺货"),
        "category": ("Category", "分类"),
        "categories": ("Categories", "分类"),
        "all": ("all", "全部"),
        "sort": ("Sort by", "排序"),
        "s_": ("as listed", "默认"),
        "s_price": ("price, lowest first", "价格从低到高"),
        "s_-price": ("price, highest first", "价格从高到低"),
        "s_name": ("name", "名称"),
        "s_rating": ("rating", "评分"),
        "min": ("Lowest price", "最低价格"),
        "max": ("Highest price", "最高价格"),
        "quantity": ("Quantity", "数量"),
        "add": ("Add to cart", "加入购物车"),
        "update": ("Update", "更新"),
        "remove": ("Remove", "移除"),
        "empty": ("The cart is empty.", "购物车是空的。"),
        "no_orders": ("No orders yet.", "还没有订单。"),
        "subtotal": ("Subtotal", "小计"),
        "discount": ("Discount", "优惠"),
        "shipping": ("Shipping", "配送方式"),
        "shipping_cost": ("Shipping cost", "运费"),
        "total": ("Total", "合计"),
        "checkout": ("Checkout", "结账"),
        "coupon": ("Coupon", "优惠券"),
        "apply": ("Apply", "使用"),
        "name": ("Name", "姓名"),
        "email": ("Email", "邮箱"),
        "address": ("Street and number", "街道地址"),
        "city": ("City", "城市"),
        "postcode": ("Postcode", "邮编"),
        "country": ("Country", "国家"),
        "payment": ("Payment", "付款方式"),
        "note": ("Note", "备注"),
        "place": ("Place order", "提交订单"),
        "missing": ("{}: is missing", "{}：必填"),
        "wrong": ("{}: is not valid", "{}：无效"),
        "status": ("Status", "状态"),
        "cancel": ("Cancel order", "取消订单"),
        "reviews": ("Reviews", "评价"),
        "rating": ("Rating", "评分"),
        "not_enough": ("Only {} in stock: {}", "库存仅剩 {} 件：{}"),
        "no_coupon": ("This coupon is not valid.", "优惠券无效。"),
        "coupon_min": ("This coupon needs a subtotal of {}.", "此优惠券要求小计满 {}。"),
    }

    def make_routes(self) -> list[Route]:
        """All routes."""
        return [
            ("GET", "/", "home", self.home),
            ("GET", "/category/{id}", "category", self.category),
            ("GET", "/search", "search", self.search),
            ("GET", "/product/{id}", "product", self.product),
            ("GET", "/cart", "cart", self.cart),
            ("POST", "/cart/add", "cart_add", self.add),
            ("POST", "/cart/update", "cart_update", self.update),
            ("POST", "/cart/remove", "cart_remove", self.remove),
            ("POST", "/cart/coupon", "coupon", self.coupon),
            ("GET", "/checkout", "checkout_form", self.checkout_form),
            ("POST", "/checkout", "order", self.checkout),
            ("GET", "/orders", "orders", self.orders),
            ("GET", "/orders/{id}", "order_view", self.order),
            ("POST", "/orders/{id}/cancel", "cancel", self.cancel),
            ("GET", "/api/products", "search", self.api_products),
            ("GET", "/api/products/{id}", "product", self.api_product),
            ("GET", "/api/cart", "cart", self.api_cart),
            ("POST", "/api/cart", "cart_add", self.api_add),
            ("GET", "/api/orders", "orders", self.api_orders),
            ("GET", "/api/orders/{id}", "order_view", self.api_order),
        ]

    def populate(self) -> None:
        """Products and terms of the seed."""
        seed = self.seed
        self.currency = seed["currency"] or "EUR"
        self.payments = seed["payments"] or ["invoice"]
        self.state |= {
            "categories": {c["id"]: c["name"] or c["id"] for c in seed["categories"]},
            "products": {},
            "cart": {"items": {}, "coupon": ""},
            "orders": {},
            "searches": 0,
        }
        for index, product in enumerate(seed["products"]):
            if product["id"] in self.products:
                raise SeedError(f"seed.json.products[{index}].id", "stands twice")
            self._seeded(f"products[{index}]", lambda p=product: self.do_product(p))
        standard = [{"id": "standard", "name": "", "price": "0", "free_from": None}]
        for index, way in enumerate(seed["shipping"] or standard):
            place = f"shipping[{index}]"
            way["price_cents"] = self._seeded(place, lambda w=way: cents(w["price"] or 0, "price"))
            way["free_from_cents"] = self._optional(way, "free_from", place)
        self.shipping = {w["id"]: w for w in seed["shipping"] or standard}
        for index, coupon in enumerate(seed["coupons"]):
            for name in ("amount", "min_total"):
                coupon[f"{name}_cents"] = self._optional(coupon, name, f"coupons[{index}]")
        self.coupons = {c["code"].upper(): c for c in seed["coupons"]}

    @staticmethod
    def _seeded(place: str, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Problem as error:
            raise SeedError(f"seed.json.{place}", error.message) from error

    def _optional(self, item: dict[str, Any], name: str, place: str) -> int | None:
        value = item[name]
        return None if value is None else self._seeded(place, lambda: cents(value, name))

    @property
    def products(self) -> dict[str, dict[str, Any]]:
        """All products by id."""
        return self.state["products"]

    @property
    def items(self) -> dict[str, int]:
        """What is in the cart: product -> quantity."""
        return self.state["cart"]["items"]

    # Changes between rounds.

    def do_product(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A product is there, or is otherwise than before."""
        identity = fields["id"]
        old = self.products.get(identity)
        if not _ID.fullmatch(identity):
            raise Problem(400, "id: expected letters, digits, dots and dashes")
        if old is None and fields.get("price") is None:
            raise Problem(400, "price: is missing")
        blank = {"name": identity, "category": "", "description": "", "stock": 10}
        given = {k: v for k, v in fields.items() if v not in ("", None, [], {}) and k != "price"}
        product = {**(old or {**blank, "attributes": {}, "reviews": []}), **given}
        if fields.get("price") is not None:
            product["price_cents"] = cents(fields["price"], "price")
        if product["category"]:
            self.state["categories"].setdefault(product["category"], product["category"])
        self.products[identity] = {**product, "reviews": list(product["reviews"])}
        return {k: product[k] for k in ("id", "price_cents", "stock")}

    def do_remove_product(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A product is no longer sold."""
        known(self.products, fields["id"], "product")
        del self.products[fields["id"]]
        self.items.pop(fields["id"], None)
        return fields

    def do_review(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Somebody reviews a product."""
        product = known(self.products, fields["product"], "product")
        review = {k: fields.get(k, "") for k in ("author", "text")}
        product["reviews"].append({**review, "stars": fields.get("stars") or 0})
        return {"product": fields["product"]}

    def do_order(self, fields: dict[str, Any]) -> dict[str, Any]:
        """An order, where there is one of this id, gets on."""
        if fields["id"] in self.state["orders"]:
            self.state["orders"][fields["id"]]["status"] = fields["status"]
        return fields

    # Catalogue.

    def menu(self) -> list[tuple[str, str]]:
        """Cart and orders on every page."""
        count = sum(self.items.values())
        cart = ("/cart", f"{self.t('cart')} ({count})")
        return [*super().menu(), cart, ("/orders", self.t("orders"))]

    def money(self, amount: int) -> str:
        """Cents as a price."""
        sign = "-" if amount < 0 else ""
        return f"{sign}{abs(amount) // 100}.{abs(amount) % 100:02} {self.currency}"

    def _stock(self, product: dict[str, Any]) -> str:
        return self.t("stock", product["stock"]) if product["stock"] else self.t("sold_out")

    def _list(self, products: list[dict[str, Any]]) -> str:
        rows: list[list[str]] = []
        for p in products:
            stars = stars_of(p)
            name = link(at("product", p["id"]), p["name"])
            price, stock = self.money(p["price_cents"]), self._stock(p)
            rows.append([name, h(price), h(stock), h("" if stars is None else f"{stars}/5")])
        heads = [self.t("product"), self.t("price"), "", self.t("rating")]
        return table(heads, rows, name="products")

    def _sorted(self, request: Request, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        sort = request.query.get("sort", "")
        if sort and sort not in SORTS:
            raise Problem(400, f"`sort`: expected one of {', '.join(SORTS)}")
        return sorted(found, key=SORTS[sort]) if sort else found

    def _sort_choice(self, query: dict[str, str]) -> str:
        options = [(s, self.t(f"s_{s}")) for s in ("", *SORTS)]
        return choice("sort", self.t("sort"), options, query.get("sort", ""))

    def _form(self, query: dict[str, str]) -> str:
        options = [("", self.t("all")), *self.state["categories"].items()]
        more = choice("category", self.t("category"), options, query.get("category", ""))
        more += field("min", self.t("min"), query.get("min", ""))
        more += field("max", self.t("max"), query.get("max", ""))
        return self.search_form(query.get("q", ""), more + self._sort_choice(query))

    def home(self, request: Request) -> Reply:
        """Categories, search and the whole catalogue by pages."""
        items = "".join(
            f"<li>{link(at('category', key), name)}</li>"
            for key, name in self.state["categories"].items()
        )
        head = f'<h2>{h(self.t("categories"))}</h2><ul id="categories">{items}</ul>'
        shown, pages = self.paged(request, list(self.products.values()))
        return self.page(self.title, self._form({}), head, self._list(shown), pages)

    def category(self, request: Request, identity: str) -> Reply:
        """Products of a category."""
        request.note = {"id": identity}
        name = known(self.state["categories"], identity, "category")
        found = [p for p in self.products.values() if p["category"] == identity]
        shown, pages = self.paged(request, self._sorted(request, found))
        sort = self._sort_choice(request.query)
        order = form(at("category", identity), sort, "OK", name="sort-form", method="get")
        return self.page(name, order, self._list(shown), pages)

    def _search(self, request: Request) -> list[dict[str, Any]]:
        query = request.query
        names = ("q", "category", "min", "max", "sort")
        request.note = {k: query[k] for k in names if query.get(k)}
        words = words_of(query.get("q", ""))
        least = cents(query["min"], "min") if query.get("min") else 0
        most = cents(query["max"], "max") if query.get("max") else None
        if words:
            self.spend_search()
        found = [
            p
            for p in self.products.values()
            if found_in(words, p["name"], p["description"], *map(str, p["attributes"].values()))
            and query.get("category", "") in {"", p["category"]}
            and least <= p["price_cents"]
            and (most is None or p["price_cents"] <= most)
        ]
        request.note["results"] = len(found)
        return self._sorted(request, found)

    def search(self, request: Request) -> Reply:
        """The search page."""
        found = self._search(request)
        shown, pages = self.paged(request, found)
        parts = (self._form(request.query), self.count(found), self._list(shown), pages)
        return self.page(self.t("search"), *parts)

    def product(self, request: Request, identity: str) -> Reply:
        """One product."""
        request.note = {"id": identity}
        p = known(self.products, identity, "product")
        rows = [[h(k), h(v)] for k, v in p["attributes"].items()]
        price = f'<p id="price">{h(self.money(p["price_cents"]))}</p>'
        stock = f'<p id="stock">{h(self._stock(p))}</p>'
        fields = f'<input type="hidden" name="product" value="{h(identity)}">'
        fields += field("quantity", self.t("quantity"), "1", kind="number", min="1")
        buy = form("/cart/add", fields, self.t("add"), name="add-form") if p["stock"] else ""
        reviews = "".join(
            f"<article><p><strong>{h(r['author'])}</strong> {r['stars']}/5</p>"
            f"{text_block(r['text'])}</article>"
            for r in p["reviews"]
        )
        listed = f'<h2>{h(self.t("reviews"))}</h2><div id="reviews">{reviews}</div>'
        facts = table(["", ""], rows, name="attributes") if rows else ""
        return self.page(p["name"], price, stock, text_block(p["description"]), facts, buy, listed)

    # Cart.

    def _quantity(self, request: Request, *, low: int) -> int:
        return request.number("quantity", 1, low=low, high=MAX_QUANTITY)

    def _add(self, request: Request) -> None:
        identity = request.line("product", needed=True)
        request.note = {"product": identity}
        product = known(self.products, identity, "product")
        quantity = self._quantity(request, low=1)
        request.note["quantity"] = quantity
        self._put(product, self.items.get(identity, 0) + quantity)

    def _put(self, product: dict[str, Any], quantity: int) -> None:
        if quantity > product["stock"]:
            raise Problem(409, self.t("not_enough", product["stock"], product["name"]))
        if quantity:
            self.items[product["id"]] = quantity
        else:
            self.items.pop(product["id"], None)

    def add(self, request: Request) -> Reply:
        """Into the cart."""
        self._add(request)
        return see("/cart")

    def update(self, request: Request) -> Reply:
        """Another quantity; 0 removes."""
        identity = request.line("product", needed=True)
        request.note = {"product": identity}
        if identity not in self.items:
            raise Problem(404, f"{identity[:100]!r} is not in the cart")
        quantity = self._quantity(request, low=0)
        request.note["quantity"] = quantity
        self._put(self.products[identity], quantity)
        return see("/cart")

    def remove(self, request: Request) -> Reply:
        """Out of the cart."""
        identity = request.line("product", needed=True)
        request.note = {"product": identity}
        if self.items.pop(identity, None) is None:
            raise Problem(404, f"{identity[:100]!r} is not in the cart")
        return see("/cart")

    def coupon(self, request: Request) -> Reply:
        """Use a coupon; an empty code takes it away."""
        code = request.line("code").upper()
        request.note = {"code": code}
        if code:
            if code not in self.coupons:
                raise Problem(409, self.t("no_coupon"))
            least = self.coupons[code]["min_total_cents"] or 0
            if self._subtotal() < least:
                raise Problem(409, self.t("coupon_min", self.money(least)))
        self.state["cart"]["coupon"] = code
        return see("/cart")

    def _subtotal(self) -> int:
        return sum(self.products[k]["price_cents"] * n for k, n in self.items.items())

    def _sums(self, shipping: str | None = None) -> dict[str, int]:
        """Subtotal, discount, shipping and total, in cents."""
        subtotal, discount = self._subtotal(), 0
        coupon = self.coupons.get(self.state["cart"]["coupon"])
        if coupon and subtotal >= (coupon["min_total_cents"] or 0):
            # Half a cent is rounded in the customer's favour.
            percent = -(-subtotal * (coupon["percent"] or 0) // 100)
            discount = min(subtotal, percent + (coupon["amount_cents"] or 0))
        cost = 0
        if shipping is not None:
            way = self.shipping[shipping]
            free = way["free_from_cents"]
            cost = 0 if free is not None and subtotal - discount >= free else way["price_cents"]
        sums = {"subtotal_cents": subtotal, "discount_cents": discount, "shipping_cents": cost}
        return {**sums, "total_cents": subtotal - discount + cost}

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"product": k, "name": p["name"], "quantity": n, "price_cents": p["price_cents"]}
            for k, n in self.items.items()
            for p in [self.products[k]]
        ]

    def _sum_lines(self, sums: dict[str, int], *, shipped: bool) -> str:
        names = [("subtotal", "subtotal_cents"), ("discount", "discount_cents")]
        names += [("shipping_cost", "shipping_cents")] if shipped else []
        names += [("total", "total_cents")]
        lines = [
            f"<dt>{h(self.t(label))}</dt>"
            f'<dd id="{label.partition("_")[0]}">{h(self.money(sums[key]))}</dd>'
            for label, key in names
        ]
        return f"<dl>{''.join(lines)}</dl>"

    def cart(self, request: Request) -> Reply:
        """The cart at today's prices."""
        if not self.items:
            return self.page(self.t("cart"), f'<p id="empty">{h(self.t("empty"))}</p>')
        rows: list[list[str]] = []
        for row in self._rows():
            identity = row["product"]
            hidden = f'<input type="hidden" name="product" value="{h(identity)}">'
            label = f"quantity-{identity}"
            number = field(label, self.t("quantity"), row["quantity"], kind="number", min="0")
            number = number.replace(f'name="{h(label)}"', 'name="quantity"')
            update = form("/cart/update", hidden + number, self.t("update"), name=f"u-{identity}")
            remove = form("/cart/remove", hidden, self.t("remove"), name=f"r-{identity}")
            name = link(at("product", identity), row["name"])
            price = self.money(row["price_cents"] * row["quantity"])
            rows.append([name, h(self.money(row["price_cents"])), update + remove, h(price)])
        heads = [self.t("product"), self.t("price"), self.t("quantity"), self.t("total")]
        code = field("code", self.t("coupon"), self.state["cart"]["coupon"])
        return self.page(
            self.t("cart"),
            table(heads, rows, name="cart-items"),
            form("/cart/coupon", code, self.t("apply"), name="coupon-form"),
            self._sum_lines(self._sums(), shipped=False),
            f"<p>{link('/checkout', self.t('checkout'), id='to-checkout')}</p>",
        )

    # Checkout.

    def _checkout_page(self, values: dict[str, str], errors: list[str], status: int) -> Reply:
        words = "".join(f"<li>{h(error)}</li>" for error in errors)
        problems = f'<ul class="error" role="alert" id="errors">{words}</ul>' if errors else ""
        fields = "".join(field(k, self.t(k), values.get(k, "")) for k in ADDRESS)
        ways = [
            (key, f"{w['name'] or key} ({self.money(w['price_cents'])})")
            for key, w in self.shipping.items()
        ]
        fields += choice("shipping", self.t("shipping"), ways, values.get("shipping", ""))
        payments = [(p, p) for p in self.payments]
        fields += choice("payment", self.t("payment"), payments, values.get("payment", ""))
        fields += area("note", self.t("note"), values.get("note", ""))
        place = form("/checkout", fields, self.t("place"), name="checkout-form")
        sums = self._sum_lines(self._sums(), shipped=False)
        return self.page(self.t("checkout"), problems, sums, place, status=status)

    def checkout_form(self, request: Request) -> Reply:
        """The form."""
        if not self.items:
            raise Problem(409, self.t("empty"))
        return self._checkout_page(self.seed["user"] or {}, [], 200)

    def _errors(self, values: dict[str, str]) -> list[str]:
        found = [self.t("missing", self.t(k)) for k in ADDRESS if not values[k]]
        if values["email"] and not re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", values["email"]):
            found.append(self.t("wrong", self.t("email")))
        if values["shipping"] not in self.shipping:
            found.append(self.t("wrong", self.t("shipping")))
        if values["payment"] not in self.payments:
            found.append(self.t("wrong", self.t("payment")))
        for key, quantity in self.items.items():
            product = self.products[key]
            if quantity > product["stock"]:
                found.append(self.t("not_enough", product["stock"], product["name"]))
        return found

    def checkout(self, request: Request) -> Reply:
        """Place the order, or say what is wrong with the form."""
        values = {k: request.line(k) for k in (*ADDRESS, "shipping", "payment")}
        values["note"] = request.text("note", most=5000)
        request.note = dict(values)
        if not self.items:
            raise Problem(409, self.t("empty"))
        errors = self._errors(values)
        if errors:
            request.note["errors"] = errors
            request.action = "checkout_refused"
            return self._checkout_page(values, errors, 422)
        identity = self.new_id("o", self.state["orders"])
        sums = self._sums(values["shipping"])
        order = {
            "id": identity,
            "status": "placed",
            "time": self.now,
            "items": self._rows(),
            **sums,
            "coupon": self.state["cart"]["coupon"],
            **values,
        }
        request.note |= {"id": identity, "items": dict(self.items), **sums}
        request.note["coupon"] = order["coupon"]
        for key, quantity in self.items.items():
            self.products[key]["stock"] -= quantity
        self.state["orders"][identity] = order
        self.state["cart"] = {"items": {}, "coupon": ""}
        return see(at("orders", identity))

    def orders(self, request: Request) -> Reply:
        """All orders."""
        found = list(self.state["orders"].values())
        if not found:
            return self.page(self.t("orders"), f"<p>{h(self.t('no_orders'))}</p>")
        rows = [
            [link(at("orders", o["id"]), o["id"]), h(o["status"]), h(self.money(o["total_cents"]))]
            for o in found
        ]
        heads = [self.t("order", ""), self.t("status"), self.t("total")]
        return self.page(self.t("orders"), table(heads, rows, name="orders"))

    def order(self, request: Request, identity: str) -> Reply:
        """One order."""
        request.note = {"id": identity}
        order = known(self.state["orders"], identity, "order")
        rows = [
            [h(i["name"]), str(i["quantity"]), h(self.money(i["price_cents"] * i["quantity"]))]
            for i in order["items"]
        ]
        heads = [self.t("product"), self.t("quantity"), self.t("total")]
        names = (*ADDRESS, "shipping", "payment", "note")
        facts = [[h(self.t(k)), h(order[k])] for k in names]
        status = f'<p id="status">{h(self.t("status"))}: {h(order["status"])}</p>'
        cancel = ""
        if order["status"] == "placed":
            where = at("orders", identity, "cancel")
            cancel = form(where, "", self.t("cancel"), name="cancel-form")
        return self.page(
            self.t("order", identity),
            status,
            table(heads, rows, name="order-items"),
            self._sum_lines(order, shipped=True),
            table(["", ""], facts, name="order-facts"),
            cancel,
        )

    def cancel(self, request: Request, identity: str) -> Reply:
        """Cancel an order that is only placed; what was in it is in stock again."""
        request.note = {"id": identity}
        order = known(self.state["orders"], identity, "order")
        if order["status"] != "placed":
            raise Problem(409, f"{self.t('order', identity)}: {order['status']}")
        order["status"] = "cancelled"
        for item in order["items"]:
            if item["product"] in self.products:
                self.products[item["product"]]["stock"] += item["quantity"]
        return see(at("orders", identity))

    # For programs.

    def _shown(self, product: dict[str, Any]) -> dict[str, Any]:
        price = self.money(product["price_cents"]).partition(" ")[0]
        more = {"price": price, "currency": self.currency, "rating": stars_of(product)}
        return {**product, **more}

    def api_products(self, request: Request) -> Reply:
        """The same search; it costs the same."""
        found = [self._shown(p) for p in self._search(request)]
        return json_reply({"total": len(found), "products": found[:200], **self.left()})

    def api_product(self, request: Request, identity: str) -> Reply:
        """One product."""
        request.note = {"id": identity}
        return json_reply(self._shown(known(self.products, identity, "product")))

    def api_cart(self, request: Request) -> Reply:
        """The cart."""
        coupon = self.state["cart"]["coupon"]
        return json_reply({"items": self._rows(), "coupon": coupon, **self._sums()})

    def api_add(self, request: Request) -> Reply:
        """Into the cart."""
        self._add(request)
        return self.api_cart(request)

    def api_orders(self, request: Request) -> Reply:
        """All orders."""
        return json_reply({"orders": list(self.state["orders"].values())})

    def api_order(self, request: Request, identity: str) -> Reply:
        """One order."""
        request.note = {"id": identity}
        return json_reply(known(self.state["orders"], identity, "order"))


if __name__ == "__main__":
    main(Shop)
